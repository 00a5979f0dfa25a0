"""Record `sgemm_2d_tile` with one tile of C, and more and more outputs of a thread.

A block always computes 64 × 64 elements of C: global loads, stores to shared memory and barriers stay. With more outputs there are fewer
threads. Each is measured with as many warps as fit, and with fewer blocks on a multiprocessor, down to 8 warps. All take turns.

Writes same_tile.json into the output folder; its rows are those of `together`.
"""

from pathlib import Path

import click

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import get
from tools.options import out_option
from tools.record.together import Case, Store, measured, square
from tools.recordings import usable_gpu, write_recording

KERNEL, SIDE = "sgemm_2d_tile", 64
OUTPUTS = ((2, 2), (4, 2), (2, 4), (8, 1), (4, 4), (8, 4), (4, 8), (8, 8))
ROOM, RESERVED = 228 * 1024, 1024               # bytes of shared memory of a multiprocessor, and of each block for the system


def fewer(BK: int, blocks: int) -> int:
    """Return the bytes that a block must ask for in addition, so that so many fit and not one more."""
    return ROOM // blocks // 128 * 128 - RESERVED - 2 * 4 * SIDE * BK


def plan() -> list[Case]:
    """Return everything that is measured."""
    cases = []
    for BK in (8, 16):
        for TM, TN in OUTPUTS:
            warps, values = SIDE * SIDE // (TM * TN) // 32, square(SIDE, BK, TM=TM, TN=TN)
            cases += [Case("08", KERNEL, values)]
            cases += [Case("08", KERNEL, values, shared=fewer(BK, held // warps)) for held in (8, 16, 32) if held >= warps]
    return cases


@click.command()
@out_option("same_tile")
def command(out: Path) -> None:
    """Measure everything and write the file."""
    status, rows = usable_gpu(), measured(plan(), Store())
    for row in rows:
        print(row["parameters"], row["shared"], row["blocks"], f"{1e3 * row['median_s']:.3f} ms", row["mhz"], row["correct"], flush=True)
    write_recording(out, "same_tile", rows, {KERNEL: fingerprint_of(get(KERNEL))}, "record same_tile", status.name, status.driver)
