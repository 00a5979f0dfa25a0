"""What the strided copy took on a real GPU, beside the sectors of its requests."""

from course_lib import data
from course_lib.lessons.coalescing.experiments import copied, copy_us, label
from course_lib.plots import Table
from course_lib.widgets.compute import evaluate

N_COUNTED = 4096                          # floats that are copied in the simulator


def recorded_us(stride: int = 1, offset: int = 0) -> int:
    """Return the recorded time of a copy of 2²⁶ floats in microseconds."""
    return round(copy_us(stride, offset))


def sectors_per_request(stride: int = 1, offset: int = 0) -> float:
    """Return the sectors per load request of the course's strided copy, counted by the simulator."""
    return evaluate("copy_strided", N_COUNTED, {"stride": stride, "offset": offset, "VEC": 1}, backend="sim").sectors_per_request()


def stride_times(*strides: int) -> Table:
    """Return a table of the copy with these strides: sectors per request, and recorded time."""
    rows = [(stride, f"{sectors_per_request(stride):g}", f"{recorded_us(stride):,}") for stride in strides]
    return Table(("stride", "sectors per load request, simulated", "µs"), rows,
                 f"A copy of 2²⁶ floats. {label()}, {data.spread(map(copied, strides))}")
