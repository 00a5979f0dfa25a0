"""A kernel that lacks a barrier: which two lines race, and whether the answer shows it."""

import re
from math import isqrt
from typing import Any

from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.run import RunResult, matches
from course_lib.simt import Hazard

BARRIER = "__syncthreads();"
VERBS = {"RAW": ("writes", "reads"), "WAR": ("reads", "writes"), "WAW": ("writes", "writes")}


def without_last_barrier(text: str, T: int = 16) -> str:
    """Return a kernel's text without its last barrier, and with its `#define T` set to another tile; no line moves.

    Raises
    ------
    CourseError
        When the text has no barrier.

    >>> without_last_barrier("#define T 16\\n__syncthreads(); x();\\n__syncthreads(); y();", T=4)
    '#define T 4\\n__syncthreads(); x();\\n y();'
    """
    before, barrier, after = text.rpartition(BARRIER)
    if not barrier:
        raise CourseError(f"the kernel has no {BARRIER} that could be removed: write both barriers into it first")
    return with_tile(before + after, T)


def with_tile(text: str, T: int) -> str:
    """Return a kernel's text with its `#define T` set to another tile.

    >>> with_tile("#define T 16\\nfloat As[T][T];", T=4)
    '#define T 4\\nfloat As[T][T];'
    """
    return re.sub(r"^([ \t]*#[ \t]*define[ \t]+T[ \t]+)\d+", rf"\g<1>{T}", text, flags=re.MULTILINE)


def element(result: RunResult, address: int) -> str:
    """Name the element at a byte offset of a square shared tile, such as "As[0][3]"; of any other array, "word 3 of As"."""
    for variable in result.shared:
        if variable.offset <= address < variable.offset + variable.nbytes:
            name, word, side = variable.name.rpartition(".")[2], (address - variable.offset) // 4, isqrt(variable.nbytes // 4)
            return f"{name}[{word // side}][{word % side}]" if 4 * side**2 == variable.nbytes else f"word {word} of {name}"
    return f"byte {address} of shared memory"


def race(result: RunResult, A: Any, B: Any) -> Table:
    """Return a table of the first race of a launch: both lines of the kernel, who goes there, and whether the answer is right.

    Parameters
    ----------
    result
        Of `run(…, racecheck=True)`.
    A, B
        What was multiplied.

    Raises
    ------
    CourseError
        When the launch was not checked for races.
    """
    if result.hazards is None:
        raise CourseError("this launch was not checked for races: run it with racecheck=True")
    answer = "The answer is right" if matches(result.C, A, B) else "The answer is wrong"
    if not result.hazards:
        return Table(("line", "thread", "", "source"), [], f"{answer}, and no two accesses race.")
    first, source = result.hazards[0], result.kernel.source.splitlines()
    if not isinstance(first, Hazard):
        return Table(("line", "thread", "", "source"), [], f"{answer}, and no two accesses race. But {first}")
    sides = ((first.first_line, first.first_thread), (first.second_line, first.second_thread))
    word = element(result, first.address)
    rows = [(str(line), f"({thread[0]}, {thread[1]}) {verb}", word, source[line - 1].partition("//")[0].strip())
            for (line, thread), verb in zip(sides, VERBS[first.kind], strict=True)]
    but = "and yet" if answer.endswith("right") else "and"
    return Table(("line", "thread", "", "source"), rows, f"{answer}, {but} no barrier orders these two accesses:", mono=(3,))
