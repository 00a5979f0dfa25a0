"""All kernels of the race as a table: what one product takes, and how close each comes to NVIDIA's library."""

from course_lib import data
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.explorables.race import LIBRARY, NAMES, N
from course_lib.kernels import get
from course_lib.plots import Table


def recorded_product(kernel: str) -> Record:
    """Return the recorded time of a kernel for matrices of 4096 × 4096."""
    record, = data.load("ladder").find(kernel, N)
    return record


def climb() -> Table:
    """Return a table of every kernel of the race: lesson, time of one product, speed in percent of the library's."""
    library, rows = recorded_product(LIBRARY).seconds, []
    for kernel, name in NAMES.items():
        seconds = recorded_product(kernel).seconds
        lesson = "" if kernel == LIBRARY else get(kernel).lesson[:2]
        rows.append((name, lesson, f"{1e3 * seconds:.1f}", f"{100 * library / seconds:.0f}"))
    header = ("kernel", "lesson", "ms per product", "speed, % of cuBLAS")
    return Table(header, rows, f"{N} × {N} matrices, {data.load('ladder').label}, {data.spread(map(recorded_product, NAMES))}")


def demand_time(seconds: float) -> None:
    """Raise a CourseError when the reader's time is no positive number."""
    if not seconds > 0:
        raise CourseError(f"a product that takes {seconds} seconds: run the cell that measures it again")
