"""What the two first kernels ask memory for: requests and sectors, counted by the simulator."""

from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.run import LaunchResult, RunResult
from course_lib.widgets.compute import evaluate

N = 256
KERNELS = {"naive": "sgemm_naive", "swapped": "sgemm_swapped"}
SAID = {"naive": "col from x", "swapped": "row from x"}      # what the lesson calls them


def counted(kernel: str, bx: int = 16, by: int = 16) -> RunResult:
    """Run the naive or the swapped kernel on 256 × 256 matrices in the simulator."""
    return evaluate(KERNELS[kernel], N, {"bx": bx, "by": by}, backend="sim")


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
    return Table(("", *SAID.values(), "ratio"), rows, f"{N} × {N} matrices, simulated")


def warp_in_c(kernel: str, bx: int, by: int) -> tuple[int, int]:
    """Return how many rows and columns of C the first warp of a block covers.

    >>> warp_in_c("naive", 16, 16), warp_in_c("swapped", 32, 8)
    ((2, 16), (32, 1))
    """
    threads = min(32, bx * by)
    across = min(bx, threads)
    return (threads // across, across) if kernel == "naive" else (across, threads // across)
