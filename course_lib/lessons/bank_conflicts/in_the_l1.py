"""A hypothesis: the L1 serves a global request bank by bank, as shared memory serves its own."""

import numpy as np

from course_lib import data
from course_lib.arch import WARP
from course_lib.lessons.first_kernel.times import cycles_per_step
from course_lib.model import l1_wavefronts
from course_lib.plots import Table

FLOAT = 4                             # bytes of an element
LANES = np.arange(WARP)


def step(pitch: int, width: int = 16, k: int = 0) -> tuple[int, int]:
    """Return the wavefronts of the two requests of a warp's step along k, to A and to B, if the hypothesis holds.

    `pitch`: elements from one row of a matrix to the next. `width`: columns of a block.

    >>> step(2048), step(2047), step(2048, 32)
    ((2, 1), (1, 1), (1, 1))
    """
    rows, columns = LANES // width, LANES % width
    return l1_wavefronts(FLOAT * (rows * pitch + k)), l1_wavefronts(FLOAT * (k * pitch + columns))


def l1_banks() -> Table:
    """Return the hypothesis' wavefronts of the naive kernel where only the length of the rows changes, beside the recorded cycles."""
    rows, told, found = [], [], data.readings("together")
    for N in (1024, 4096):
        for width in (16, 32):
            for more in (0, 8):          # 32 bytes: rows still begin where a sector does
                row, = found.find(lesson="06", kernel="sgemm_naive", N=N, parameters={"bx": width, "by": width}, padding=more)
                cycles = cycles_per_step(row["median_s"], N, row["mhz"] / 1e3)
                told.append(row)
                rows.append((f"{N:,}", f"{width}\u00a0×\u00a0{width}", f"N\u00a0+\u00a0{more}", sum(step(N + more, width)),
                             f"{1e3 * row['median_s']:.3f}", f"{cycles:.2f}"))
    header = ("N", "block", "floats per row", "wavefronts per step, if the rule holds", "recorded, ms",
              "cycles per step, at the clock read")
    return Table(header, rows, f"Naive kernel, a warp's step along k, {found.label}, {data.spread(told)}, to {data.clocks(told)}")
