"""What a warp of both first kernels touches in one step: its elements of C, and its lines of A and of B."""

import numpy as np

from course_lib.explorables.threads import BLOCK, traced
from course_lib.lessons.first_kernel.counts import beside
from course_lib.lessons.first_kernel.times import LINE
from course_lib.plots import Table
from course_lib.run import LaunchResult
from course_lib.run.traces import array_of, elements, requests

T, STEP = 16, 3                               # rows of A and C; the k on show


def asked(kernel: str, array: str, block: tuple[int, int] = BLOCK, rows: int = T) -> set[tuple[int, int]]:
    """Return the rows and columns that the first warp of a launch asks for in one step, or those of C that it stores.

    >>> len(asked("naive", "A")), len(asked("swapped", "A")), sorted(asked("swapped", "B"))
    (2, 16, [(3, 0), (3, 1)])
    """
    result = traced(kernel, block, rows=rows, columns=LINE, deep=LINE)
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


def extent(places: set[tuple[int, int]]) -> str:
    """Say how many rows and columns these elements cover.

    >>> extent({(0, 0), (1, 0)})
    '2 rows and 1 column'
    """
    rows, columns = (len(set(numbers)) for numbers in zip(*places, strict=True))
    return f"{rows} row{'s' * (rows > 1)} and {columns} column{'s' * (columns > 1)}"
