"""What a warp of both first kernels touches in one step, side by side: its elements of C, and its lines of A and of B."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.explorables.threads import traced
from course_lib.lessons.first_kernel.counts import SAID, beside
from course_lib.lessons.first_kernel.times import LINE
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture
from course_lib.run import LaunchResult
from course_lib.run.traces import array_of, elements, requests

T, DEEP, STEP, GAP, NEXT = 16, 6, 3, 3, 76        # rows of A and C drawn; rows of B; the k on show; between matrices; to the other panel
HUES = {"A": style.BLUE, "B": style.VERMILION, "C": style.GREEN}
PALE = {"A": "#BFDDF0", "B": "#F7D3B8"}
PLACES = {"A": (0, DEEP + GAP, T), "B": (LINE + GAP, 0, DEEP), "C": (LINE + GAP, DEEP + GAP, T)}     # left, top, rows


def asked(kernel: str, array: str) -> set[tuple[int, int]]:
    """Return the rows and columns that the first warp of a launch asks for in one step, or those of C that it stores.

    >>> len(asked("naive", "A")), len(asked("swapped", "A")), sorted(asked("swapped", "B"))
    (2, 16, [(3, 0), (3, 1)])
    """
    result = traced(kernel, rows=T, columns=LINE, deep=LINE)
    record = requests(result, array=array, load=array != "C", block=(0, 0, 0), warp=0)[0 if array == "C" else STEP]
    found = elements(record, array_of(result, array).address, 4)[:, 1]
    return {(int(row), int(column)) for row, column in zip(*np.divmod(found, LINE), strict=True)}


def lines(places: set[tuple[int, int]]) -> set[int]:
    """Return the rows of these elements, as a row of the picture's matrices is one line."""
    return {row for row, _ in places}


class Folded:
    """A table that a reader opens by a click, as it answers what the picture above asks."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def _repr_html_(self) -> str:
        return f"<details><summary><b>What was counted</b> (click when you have played it)</summary>{self.table._repr_html_()}</details>"

    def __repr__(self) -> str:
        return repr(self.table)


def both(first: LaunchResult, second: LaunchResult) -> Folded:
    """Return, behind a click, what two launches on 256 × 256 matrices load."""
    return Folded(beside(first, second))


@style.styled
def lines_touched() -> Picture:
    """Draw the lines that the first warp of *col from x* and of *row from x* touches in one step."""
    ax, said = style.axes(width=10.0, height=3.3), []
    for panel, (kernel, name) in enumerate(SAID.items()):
        touched = {array: len(lines(asked(kernel, array))) for array in "AB"}
        for array in "ABC":
            draw_matrix(ax, panel * NEXT, array, asked(kernel, array))
        words = f"{touched['A']} of A + {touched['B']} of B = {sum(touched.values())} lines"
        ax.text(panel * NEXT, DEEP - 2.2, name, fontsize=15, weight="bold", va="bottom")
        ax.text(panel * NEXT, DEEP - 1.7, f"step k = {STEP}", fontsize=11.5, va="top")
        ax.text(panel * NEXT, DEEP + GAP + T + 1, words, fontsize=15, weight="bold", va="top")
        said.append(f"{name}: in step {STEP} a warp touches {words}, for {extent(asked(kernel, 'C'))} of C.")
    ax.text(0, DEEP + GAP + T + 4.6, "dark: a number that lanes ask for, or an element of C that a lane computes; pale: the rest of a line",
            fontsize=11.5, va="top")
    ax.set(xlim=(-3, NEXT + 2 * LINE + GAP + 1), ylim=(DEEP + GAP + T + 7.5, -0.5), aspect=1.4)
    ax.axis("off")
    return render(ax, " ".join(said))


def draw_matrix(ax: Axes, shift: int, array: str, places: set[tuple[int, int]]) -> None:
    """Draw a matrix of one panel: its rows, of A and B the lines that are touched, and what is wanted."""
    left, top, rows = PLACES[array]
    for row in lines(places) if array in PALE else ():
        ax.add_patch(Rectangle((shift + left, top + row), LINE, 1, facecolor=PALE[array], edgecolor=HUES[array], linewidth=1))
    for row, column in places:
        ax.add_patch(Rectangle((shift + left + column, top + row), 1, 1, facecolor=HUES[array], edgecolor="none"))
    for row in range(rows + 1):
        ax.plot([shift + left, shift + left + LINE], [top + row] * 2, color=style.GREY, linewidth=0.5)
    for column in (0, LINE):
        ax.plot([shift + left + column] * 2, [top, top + rows], color=style.GREY, linewidth=0.9)
    ax.text(shift + left - 0.6, top + rows / 2, array, fontsize=13, weight="bold", ha="right", va="center", color=HUES[array])


def extent(places: set[tuple[int, int]]) -> str:
    """Say how many rows and columns these elements cover.

    >>> extent({(0, 0), (1, 0)})
    '2 rows and 1 column'
    """
    rows, columns = (len(set(numbers)) for numbers in zip(*places, strict=True))
    return f"{rows} row{'s' * (rows > 1)} and {columns} column{'s' * (columns > 1)}"
