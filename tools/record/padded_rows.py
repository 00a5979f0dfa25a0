"""Record lesson 03's kernels with padded rows of A and of B.

Both run with unused floats after the rows of A only, of B only, of both, and of neither, all in turns in one process. A row of
padded_rows.json has these two numbers of floats, and the median and the quartiles of the rounds. Two questions:

\b
- whose rows matter, A's or B's? blocks of 16 × 16, 1 to 1024 unused floats
- does the time of the six shapes of a warp follow their sectors once the rows lie elsewhere? blocks of 256 threads, 8 unused floats
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import get
from tools.options import out_option
from tools.record.together import Case, N, Store, function_of, right_product, shape, timed
from tools.recordings import usable_gpu, write_recording

KERNELS, ROUNDS = ("sgemm_naive", "sgemm_swapped"), 6
SIDES, SHAPES = (1, 4, 8, 16, 32, 64, 1024), (1, 2, 4, 8, 16, 32)
Row = dict[str, Any]


def plan() -> list[Row]:
    """Return everything that is measured: kernel, block, and the unused floats after each row of A and of B."""
    blocks = [(wide, 256 // wide, 8) for wide in SHAPES] + [(16, 16, pad) for pad in SIDES]
    cases = [(kernel, bx, by, *pads) for bx, by, pad in blocks for pads in ((0, 0), (pad, 0), (0, pad), (pad, pad)) for kernel in KERNELS]
    return [dict(zip(("kernel", "bx", "by", "after_A", "after_B"), case, strict=True)) | {"N": N} for case in dict.fromkeys(cases)]


def prepared(row: Row, store: Store) -> tuple[Callable[[], None], Callable[[], bool]]:
    """Return (launch, check) of a row; the unused floats are NaN."""
    import cupy
    case = Case("03", row["kernel"], {"bx": row["bx"], "by": row["by"]})
    A, _, exact = store.product(N, row["after_A"])
    _, B, _ = store.product(N, row["after_B"])
    C, n = cupy.empty((N, N), np.float32), np.int32(N)
    args = (n, n, n, np.float32(1), A, np.int32(A.shape[1]), B, np.int32(B.shape[1]), np.float32(0), C, n)
    function, (grid, block) = function_of(case), shape(case)

    def launch() -> None:
        function(grid, block, args)

    def check() -> bool:
        C[...] = np.nan
        launch()
        return right_product(C, exact)
    return launch, check


def measured(cases: list[Row]) -> list[Row]:
    """Return the rows with times: all in turn, so that whatever drifts meets them all alike."""
    store, rows = Store(), []
    ready = [prepared(row, store) for row in cases]
    right = [check() for _, check in ready]
    samples = zip(*([timed(launch, 1) for launch, _ in ready] for _ in range(ROUNDS)), strict=True)
    for row, good, found in zip(cases, right, samples, strict=True):
        low, median, high = (float(f"{s:.5g}") for s in np.percentile(found, [25, 50, 75]))
        rows.append(row | {"median_s": median, "low_s": low, "high_s": high, "repeats": ROUNDS, "correct": good})
    return rows


@click.command()
@out_option("padded_rows")
def command(out: Path) -> None:
    """Measure everything and write the file."""
    status = usable_gpu()
    rows = measured(plan())
    sources = {name: fingerprint_of(get(name)) for name in KERNELS}
    write_recording(out, "padded_rows", rows, sources, "record padded-rows", status.name, status.driver)
    sys.exit(not all(row["correct"] for row in rows))
