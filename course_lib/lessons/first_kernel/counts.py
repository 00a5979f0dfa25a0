"""What the two first kernels ask memory for: requests, sectors and lines, counted by the simulator."""

import functools

import numpy as np

from course_lib.errors import CourseError
from course_lib.plots import Table, requests
from course_lib.run import LaunchResult, RunResult, run
from course_lib.widgets.compute import evaluate

N = 256
LINE_BYTES = 128
KERNELS = {"naive": "sgemm_naive", "swapped": "sgemm_swapped"}
SAID = {"naive": "col from x", "swapped": "row from x"}      # what the lesson calls them
SHAPES = (("naive", 32, 8), ("naive", 16, 16), ("naive", 8, 32), ("swapped", 32, 8), ("swapped", 16, 16), ("swapped", 2, 64),
          ("naive", 1, 1))


def counted(kernel: str, bx: int = 16, by: int = 16) -> RunResult:
    """Run the naive or the swapped kernel on 256 × 256 matrices in the simulator."""
    return evaluate(KERNELS[kernel], N, {"bx": bx, "by": by}, backend="sim")


@functools.cache
def traced(kernel: str, bx: int, by: int) -> RunResult:
    """Run a kernel in the simulator on matrices that one block covers, 32 numbers deep, and trace its first warp."""
    side = max(32, bx, by)
    A, B = np.ones((side, 32), np.float32), np.ones((32, side), np.float32)
    return run(KERNELS[kernel], A, B, backend="sim", trace=[((0, 0, 0), 0)], bx=bx, by=by)


def lines_per_step(kernel: str, bx: int = 16, by: int = 16) -> int:
    """Return how many lines of 128 bytes a warp's two load requests touch in one step of the loop, when rows begin whole lines apart.

    >>> lines_per_step("naive"), lines_per_step("swapped")
    (3, 17)
    """
    result = traced(kernel, bx, by)
    first = (requests(result, array=name, load=True)[0].addresses for name in "AB")
    return sum(len(np.unique(addresses[addresses >= 0] // LINE_BYTES)) for addresses in first)


def sectors_per_step(kernel: str, bx: int = 16, by: int = 16) -> int:
    """Return how many sectors a warp's two load requests touch in one step of the loop.

    >>> sectors_per_step("naive"), sectors_per_step("swapped")
    (4, 17)
    """
    return int(2 * counted(kernel, bx, by).sectors_per_request())


def beside(first: LaunchResult, second: LaunchResult) -> Table:
    """Return a table of what two launches on 256 × 256 matrices load.

    Raises
    ------
    CourseError
        When a launch has no counters.
    """
    if None in (first.counters, second.counters):
        raise CourseError("a launch has no counters: launch both kernels on 256 × 256 matrices, which the simulator runs beside a GPU")
    loads = [(what, first.count(what), second.count(what)) for what in ("requests", "sectors")]
    rows = [(f"load {what}", f"{before:,}", f"{after:,}", f"{after / before:g}") for what, before, after in loads]
    each = [result.sectors_per_request() for result in (first, second)]
    rows.append(("sectors per step, A + B", f"{2 * each[0]:g}", f"{2 * each[1]:g}", f"{each[1] / each[0]:g}"))
    rows.append(("sectors per load request", f"{each[0]:g}", f"{each[1]:g}", f"{each[1] / each[0]:g}"))
    return Table(("", *SAID.values(), "ratio"), rows, f"{N} × {N} matrices, simulated")


def warp_in_c(kernel: str, bx: int, by: int) -> tuple[int, int]:
    """Return how many rows and columns of C the first warp of a block covers.

    >>> warp_in_c("naive", 16, 16), warp_in_c("swapped", 32, 8)
    ((2, 16), (32, 1))
    """
    threads = min(32, bx * by)
    across = min(bx, threads)
    return (threads // across, across) if kernel == "naive" else (across, threads // across)


def unbroken(words: str) -> str:
    """Return words that a narrow column of a table leaves on one line."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def plural(count: int, word: str) -> str:
    """Return "1 row", "2 rows"."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def shapes() -> Table:
    """Return a table of what both kernels load with blocks of several shapes, and which part of C a warp covers."""
    rows = []
    for kernel, bx, by in SHAPES:
        found, (high, wide) = counted(kernel, bx, by), warp_in_c(kernel, bx, by)
        rows.append((unbroken(SAID[kernel]), unbroken(f"{bx} × {by}"), unbroken(f"{plural(high, 'row')}, {plural(wide, 'column')}"),
                     unbroken(f"{high} + {max(wide // 8, 1)}"), f"{found.sectors_per_request():g}", f"{found.count('sectors'):,}"))
    what = ("sectors of A + B per step", "sectors per request", "load sectors in all")
    return Table(("kernel", unbroken("bx × by"), "a warp covers, of C", *what), rows, f"{N} × {N} matrices, simulated")
