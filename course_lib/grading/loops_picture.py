"""Draw which cache lines loops fetch, hold and use, from the accesses of a run on the simulator."""

from dataclasses import dataclass

import numpy as np

from course_lib.check.case import Case
from course_lib.errors import CourseError
from course_lib.grading.judge.engine import Here
from course_lib.grading.judge.kernel_check import plain
from course_lib.grading.judge.loops_check import run_loops, text_findings
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.model.cache_lines import CacheShape, LineCounter
from course_lib.plots import cache_lines, describe_lines, line_window, show
from course_lib.plots.cache import INDEXED, Window


@dataclass(frozen=True)
class _Traced:
    """What `line_window` looks at."""

    trace: np.ndarray
    C: np.ndarray
    cache: CacheShape
    shapes: tuple[tuple[int, int, int], ...]


def show_lines(answer: str, spec: LoopsSpec, accesses: int = 144, last: int = 48, N: int = 32) -> None:
    """Draw A, B and C after some accesses of loops, or say why there is nothing to draw.

    Parameters
    ----------
    answer
        The loops, right or wrong.
    accesses, last
        Through A(i, k), B(k, j), C(i, j), until now; and how many of them, the last ones, are looked at.
    N
        Rows and columns of all matrices.
    """
    try:
        window = lines_window(answer, spec, accesses, last, N)
    except CourseError as error:
        line = getattr(error, "line", None)
        print(f"No picture: {f'line {line}: ' if line else ''}{error}")
        return
    title = f"{spec.entry}, accesses {max(1, window.step - last + 1)} to {window.step}; a cache of {spec.cache.size // 1024} KiB"
    A, B = spec.operation.elements
    show(cache_lines(window, title=title, indexed=INDEXED | {"A": A, "B": B}), f"Loops {spec.entry}. {describe_lines(window)}")


def lines_window(answer: str, spec: LoopsSpec, accesses: int = 144, last: int = 48, N: int = 32) -> Window:
    """Return the `Window` that `show_lines` draws; at the end of the loops when they have fewer accesses.

    Raises
    ------
    CourseError
        When the loops cannot run, leave a matrix or reach none.
    """
    findings = text_findings(answer, spec, Here())
    if findings:
        raise CourseError(str(findings[0]))
    trial = spec.operation.trial(Case("picture", N, N, N))
    run = run_loops(plain(answer), trial, spec, Here())
    counter = LineCounter(run.shapes, trial.C.itemsize, spec.cache, room=accesses)
    for access in zip(*(column[:accesses].tolist() for column in (run.matrices, run.rows, run.cols)), strict=True):
        counter.touch(*access)
    trace = np.array(counter.finish().trace, np.int32).reshape(-1, 6)
    if not len(trace):
        raise CourseError("the loops reach no element of A, B or C")
    return line_window(_Traced(trace, trial.C, spec.cache, run.shapes), len(trace), last, each=1, unit="accesses")
