"""Record what lessons 05 and 08 compare beside `together`.

All take turns, and the clock is noted.

\\b
- 05: line 29 as it was, and changed, with unused floats at the end of each row of B alone
- 08: every kernel of the scoreboard and of the chart, each square of outputs with several depths of the tile and with fewer and fewer
  blocks per multiprocessor; and `again`, which loads words of shared memory again, with all warps and with half of them

Writes again.json into the output folder.
"""

import sys
from pathlib import Path
from typing import Any

import click

from course_lib import toolchain
from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.kernels import get
from course_lib.lessons.register_blocking import again
from tools.options import out_option
from tools.record.together import Case, Store, measured, square
from tools.recordings import usable_gpu, write_recording

ROUNDS = 9
KIB = 1024
MOST = ((1, 16, 8), (2, 16, 6), (4, 16, 4), (8, 16, 2), (2, 32, 6), (8, 8, 2))     # side of the outputs, BK, blocks that fit


def outputs(side: int, BK: int) -> dict[str, int]:
    """Return a tile for 16 × 16 threads with side × side outputs each."""
    return square(16 * side, BK, TM=side, TN=side)


def unused(side: int, BK: int, blocks: int) -> int:
    """Return how many bytes of shared memory a block gets and does not use, so that so many blocks fit: of 228 KiB each takes one more."""
    total = min(227 * KIB, 228 * KIB // blocks - KIB) // KIB * KIB
    return total - 4 * 2 * 16 * side * BK


def plan() -> list[Case]:
    """Return everything that is measured."""
    cases = [Case("05", "sgemm_uncoalesced", {"TILE": 16}, N=N, padding=pad, along=along)
             for N in (1024, 4096) for pad in (0, 8, 32, 72) for along in (False, True)]
    cases += [Case("08", "sgemm_tiled", square(16, 16)), Case("08", "sgemm_1d_tile", square(64, 8, TM=8))]
    cases += [Case("08", "sgemm_2d_tile", outputs(side, BK)) for side in (1, 2, 4, 8) for BK in (8, 16, 32)]
    cases += [Case("08", "sgemm_2d_tile", outputs(side, BK), shared=unused(side, BK, blocks))
              for side, BK, most in MOST for blocks in range(1, most + 1)]
    return cases + [Case("08", again.ENTRY, variant, shared=shared) for shared in (0, 120 * KIB) for variant in again.variants()]


class PaddedB(Store):
    """As `Store`, but only the rows of B are padded."""

    def product(self, size: int, padding: int) -> tuple[Any, Any, Any]:
        """Return A, B with so many unused floats at the end of each row, and A B in float64."""
        A, _, exact = super().product(size, 0)
        return A, super().product(size, padding)[1], exact


@click.command()
@out_option("again")
def command(out: Path) -> None:
    """Measure everything and write the file."""
    status, cases = usable_gpu(), plan()
    rows = measured(cases, PaddedB(), ROUNDS)
    sources = {name: fingerprint_of(get(name)) for name in sorted({case.kernel for case in cases} - {again.ENTRY})}
    sources[again.ENTRY] = fingerprint(again.FILE.read_text(encoding="utf-8"))
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    write_recording(out, "again", rows, sources, f"record again; NVRTC {nvrtc}", status.name, status.driver)
    sys.exit(len(rows) < len(cases) or not all(row["correct"] for row in rows))
