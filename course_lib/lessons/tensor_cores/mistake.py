"""A fragment in the wrong order, and how the unit matrix shows it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.errors import CourseError
from course_lib.kernels import UserKernel
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import run

GIVEN, EXCHANGED = '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])', '"r"(a[0]), "r"(a[2]), "r"(a[1]), "r"(a[3])'
ROWS, COLUMNS, APART = 16, 8, 11                                # of A; from A's first column to that of C
HUES = {0: style.PALE, 1: style.PURPLE, 2: style.YELLOW, 3: style.PALE}           # by the register of A's fragment
ASKED = (8, 0)


def with_exchanged(kernel: str) -> str:
    """Return a kernel's text in which the instruction gets registers 1 and 2 of A's fragment in each other's place."""
    if GIVEN not in kernel:
        raise CourseError("the kernel's `mma` does not take a[0] to a[3] as it was given")
    return kernel.replace(GIVEN, EXCHANGED)


def seen(kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """Return A, its elements numbered 0, 1, 2, …, and the kernel's product of A and the unit matrix."""
    A, unit = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS), np.eye(COLUMNS, dtype=np.float32)
    return A, run(UserKernel.from_source(kernel, like="sgemm_mma"), A, unit, backend="sim").C


def register(number: float) -> int:
    """Return to which register of its lane's fragment A's element with this number belongs.

    >>> [register(number) for number in (0, 4, 64, 68)]
    [0, 2, 1, 3]
    """
    row, column = divmod(int(number), COLUMNS)
    return int(row >= ROWS // 2) + 2 * int(column >= COLUMNS // 2)


def _draw(ax: Axes, X: np.ndarray, left: int, name: str) -> None:
    ax.text(left, -1.35, name, fontsize=13, weight="bold", va="bottom")
    for column in range(COLUMNS):
        ax.text(left + column + 0.5, -0.25, str(column), ha="center", va="bottom", fontsize=10, color=style.GREY)
    for (row, column), number in np.ndenumerate(X):
        known = number in range(X.size)                                    # a kernel with another mistake may give anything, NaN too
        ground = HUES[register(number)] if known else "none"
        ax.add_patch(Rectangle((left + column, row), 1, 1, facecolor=ground, edgecolor=style.GREY, linewidth=0.6))
        ax.text(left + column + 0.5, row + 0.52, f"{number:.0f}", ha="center", va="center", fontsize=11,
                color=style.text_on(ground) if known else style.INK)


@style.styled
def through_unit(kernel: str) -> Picture:
    """Draw A, and the kernel's product of A and the unit matrix: A as the instruction sees it."""
    A, C = seen(kernel)
    ax = style.axes(width=8.6, height=5.6)
    _draw(ax, A, 0, "A")
    _draw(ax, C, APART, "C = A times the unit matrix")
    ax.add_patch(Rectangle((APART + ASKED[1], ASKED[0]), 1, 1, facecolor="none", edgecolor=style.INK, linewidth=3.5))
    for row in range(ROWS):
        ax.text(-0.3, row + 0.52, str(row), ha="right", va="center", fontsize=10, color=style.GREY)
    ax.legend(handles=[Patch(color=HUES[i], label=f"fetched for register {i}") for i in (1, 2)], loc="upper center",
              bbox_to_anchor=(0.5, 0.0), ncols=2)
    ax.set(xlim=(-1, APART + COLUMNS + 0.3), ylim=(ROWS + 0.1, -2.5))
    ax.axis("off")
    return render(ax, f"A is numbered 0 to {A.size - 1}, row by row. In the product with the unit matrix row 0 is "
                      f"{', '.join(f'{x:.0f}' for x in C[0])}, and row 8 is {', '.join(f'{x:.0f}' for x in C[8])}.")
