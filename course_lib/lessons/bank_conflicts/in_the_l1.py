"""A hypothesis: the L1 serves a global request bank by bank, as shared memory serves its own."""

import numpy as np

from course_lib import data
from course_lib.arch import WARP
from course_lib.lessons.first_kernel.sizes import records
from course_lib.lessons.first_kernel.times import cycles_per_step
from course_lib.model import l1_wavefronts
from course_lib.plots import Table

WIDTH, FLOAT = 16, 4                  # columns of a block; bytes of an element
LANES = np.arange(WARP)


def step(N: int, k: int = 0) -> tuple[int, int]:
    """Return the wavefronts of the two requests of a warp's step along k, to A and to B, if the hypothesis holds.

    >>> step(2048), step(2047)
    ((2, 1), (1, 1))
    """
    rows, columns = LANES // WIDTH, LANES % WIDTH
    return l1_wavefronts(FLOAT * (rows * N + k)), l1_wavefronts(FLOAT * (k * N + columns))


def l1_banks() -> Table:
    """Return the hypothesis' wavefronts of the naive kernel, at the sizes of lesson 03's chart, beside the recorded cycles of a step."""
    rows = []
    for record in records():
        of_a, of_b = step(record.N)
        cycles = cycles_per_step(record.median_s, record.N)
        rows.append((f"{record.N:,}", record.N % WARP, of_a, of_b, of_a + of_b, f"{cycles:.2f}"))
    header = ("N", "N mod 32", "wavefronts of the request to A", "of that to B", "together", "cycles per step, recorded")
    return Table(header, rows, f"Naive kernel, a warp's step along k, blocks of 16 × 16, {data.load('wang').label}")
