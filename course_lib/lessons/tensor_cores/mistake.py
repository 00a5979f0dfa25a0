"""A fragment in the wrong order, and how the unit matrix shows it."""

import numpy as np

from course_lib.errors import CourseError
from course_lib.kernels import UserKernel
from course_lib.plots import Table
from course_lib.run import run

GIVEN, EXCHANGED = '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])', '"r"(a[0]), "r"(a[2]), "r"(a[1]), "r"(a[3])'
SHOWN = (0, 1, 8, 9)             # rows
WIDE = "\u2007"                  # a space as wide as a digit, which a page does not shorten


def with_exchanged(kernel: str) -> str:
    """Return a kernel's text in which the instruction gets registers 1 and 2 of A's fragment in each other's place."""
    if GIVEN not in kernel:
        raise CourseError("the kernel's `mma` does not take a[0] to a[3] as it was given")
    return kernel.replace(GIVEN, EXCHANGED)


def through_unit(kernel: str) -> Table:
    """Return some rows of A, numbered 0, 1, 2, …, and of the product of A and a unit matrix: A as the instruction sees it."""
    A, unit = np.arange(128, dtype=np.float32).reshape(16, 8), np.eye(8, dtype=np.float32)
    C = run(UserKernel.from_source(kernel, like="sgemm_mma"), A, unit, backend="sim").C
    rows = [(row, *(" ".join(f"{x:3.0f}" for x in X[row]).replace(" ", WIDE) for X in (A, C))) for row in SHOWN]
    return Table(("row", "A", "C = A times the unit matrix"), rows, "16 × 8, simulated")
