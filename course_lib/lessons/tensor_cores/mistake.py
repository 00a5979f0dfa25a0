"""A fragment in the wrong order, and how the unit matrix shows it."""

import re

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.errors import CourseError
from course_lib.kernels import UserKernel
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import run

ROWS, COLUMNS, APART = 16, 8, 11.5                                # of A; from A's first column to that of C
WIDE, HIGH = 0.38, 0.26                                         # inches of an element: whole pixels, so that equal numbers look equal
MISTAKE = (1, 2)                                                # the registers that the lesson exchanges
HUES = (style.SKY, style.PURPLE, style.YELLOW, style.PALE)      # by the register of A's fragment


def exchanged(kernel: str, first: int, second: int) -> str:
    """Return a kernel's text in which the instruction gets two registers of A's fragment, 0 to 3, in each other's place."""
    if first == second:
        raise CourseError(f"{first} and {second} are one register: exchange two different ones, 0 to 3")
    one, other = (f'"r"(a[{register}])' for register in (first, second))
    if kernel.count(one) != 1 or kernel.count(other) != 1:
        raise CourseError(f"the kernel's `mma` does not take a[{first}] and a[{second}] once each: "
                          "are both numbers 0 to 3, and is `mma` as it was given?")
    return re.sub(f"{re.escape(one)}|{re.escape(other)}", lambda found: other if found[0] == one else one, kernel)


def with_a_mistake(kernel: str) -> str:
    """Return a kernel's text in which two registers of A's fragment are exchanged; the reader finds out which."""
    return exchanged(kernel, *MISTAKE)


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


def _draw(ax: Axes, X: np.ndarray, left: float, name: str) -> None:
    """Draw a matrix, its rows and columns numbered."""
    ax.text(left, -1.35, name, fontsize=13, weight="bold", va="bottom")
    for column in range(COLUMNS):
        ax.text(left + column + 0.5, -0.25, str(column), ha="center", va="bottom", fontsize=10, color=style.GREY)
    for row in range(ROWS):
        ax.text(left - 0.3, row + 0.52, str(row), ha="right", va="center", fontsize=10, color=style.GREY)
    for (row, column), number in np.ndenumerate(X):
        known = number in range(X.size)                                    # a kernel with another mistake may give anything, NaN too
        ground = HUES[register(number)] if known else "none"
        ax.add_patch(Rectangle((left + column, row), 1, 1, facecolor=ground, edgecolor=style.GREY, linewidth=0.6))
        ax.text(left + column + 0.5, row + 0.52, f"{number:.0f}", ha="center", va="center", fontsize=11,
                color=style.text_on(ground) if known else style.INK)


def _name_registers(ax: Axes) -> None:
    """Write beside each quarter of A which register holds it."""
    for beside, column in ((-1.35, 0), (COLUMNS + 0.55, COLUMNS // 2)):
        for row in (0, ROWS // 2):
            name = f"register {register(row * COLUMNS + column)}"
            ax.text(beside, row + ROWS / 4, name, ha="center", va="center", rotation=90, fontsize=11)


@style.styled
def through_unit(kernel: str) -> Picture:
    """Draw A, and the kernel's product of A and the unit matrix: A as the instruction sees it."""
    A, C = seen(kernel)
    ax = style.axes(width=22 * WIDE, height=18.5 * HIGH)
    ax.set_position((0, 0, 1, 1))
    _draw(ax, A, 0, "A")
    _name_registers(ax)
    _draw(ax, C, APART, "C = A times the unit matrix")
    ax.set(xlim=(-2, 20), ylim=(ROWS + 0.1, -2.4))
    ax.axis("off")
    return render(ax, f"A is numbered 0 to {A.size - 1}, row by row, and each quarter has a colour: register 0 holds the upper left "
                      "one, register 1 the lower left, register 2 the upper right, register 3 the lower right. "
                      "In the product with the unit matrix row 0 is "
                      f"{', '.join(f'{x:.0f}' for x in C[0])}, and row 8 is {', '.join(f'{x:.0f}' for x in C[8])}.")
