"""How often the naive and the tiled kernel load each element: counted by the simulator, and from the formula."""

from fractions import Fraction

from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.run import LaunchResult, RunResult
from course_lib.widgets.compute import evaluate

N = 256
FLOATS_PER_SECTOR = 8


def sectors_per_multiply_add(BM: int, BN: int) -> Fraction:
    """Return how many sectors of A and B a tiled kernel loads per multiply-add, when rows of its tiles are whole sectors.

    >>> sectors_per_multiply_add(16, 16)
    Fraction(1, 64)
    """
    return (Fraction(1, BM) + Fraction(1, BN)) / FLOATS_PER_SECTOR


def counted(variant: str, T: int, N: int = N) -> RunResult:
    """Run the naive or the tiled kernel in the simulator, in blocks of T × T, with tiles of the same size."""
    sides = {"naive": ("bx", "by"), "tiled": ("BM", "BN", "BK")}[variant]
    return evaluate(f"sgemm_{variant}", N, dict.fromkeys(sides, T), backend="sim")


def beside_naive(launch: LaunchResult, name: str = "your kernel") -> Table:
    """Return a table of what a launch on 256 × 256 matrices loads, beside the naive kernel.

    Raises
    ------
    CourseError
        When the launch has no counters.
    """
    if launch.counters is None:
        raise CourseError("this launch has no counters: launch the kernel on 256 × 256 matrices, which the simulator runs beside a GPU")
    first = counted("naive", 16)
    loads = [(what, first.count(what), launch.count(what)) for what in ("requests", "sectors")]
    rows = [(f"load {what}", f"{before:,}", f"{after:,}", f"{before / after:g} times") for what, before, after in loads]
    per_request = (f"{result.sectors_per_request():g}" for result in (first, launch))
    return Table(("", "naive", name, "fewer"), [*rows, ("sectors per request", *per_request, "")], f"{N} × {N} matrices, simulated")
