"""What the strided copy took on a real GPU, beside the sectors of its requests."""

from course_lib import data
from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.lessons.coalescing.experiments import COPIED, copied, copy_us, label
from course_lib.plots import Table
from course_lib.widgets.compute import evaluate

N_COUNTED = 4096                          # floats that are copied in the simulator
STRIDES = (1, 2, 3, 4, 8, 16, 32)
FLOAT = 4                                 # bytes


def recorded_us(stride: int = 1, offset: int = 0) -> int:
    """Return the recorded time of a copy of 2²⁶ floats in microseconds."""
    return round(copy_us(stride, offset))


def sectors_per_request(stride: int = 1, offset: int = 0) -> float:
    """Return the sectors per load request of the course's strided copy, counted by the simulator."""
    return evaluate("copy_strided", N_COUNTED, {"stride": stride, "offset": offset, "VEC": 1}, backend="sim").sectors_per_request()


def wanted_gb_s(stride: int) -> float:
    """Return 10⁹ bytes per second that the copy reads and writes for itself: each float once and once."""
    return 2 * FLOAT * COPIED / copy_us(stride) / 1e3


def moved_gb_s(stride: int) -> float:
    """Return 10⁹ bytes per second in whole sectors: what load requests touch, and the floats that are stored."""
    per_float = sectors_per_request(stride) * SECTOR_BYTES / WARP + FLOAT
    return per_float * COPIED / copy_us(stride) / 1e3


def stride_times(*strides: int) -> Table:
    """Return a table of the copy with these strides: sectors per request, and recorded time."""
    rows = [(stride, f"{sectors_per_request(stride):g}", f"{recorded_us(stride):,}") for stride in strides]
    return Table(("stride", "sectors per load request, simulated", "µs"), rows,
                 f"A copy of 2²⁶ floats. {label()}, {data.spread(map(copied, strides))}")


def stride_speeds(*strides: int) -> Table:
    """Return a table of the copy with these strides: recorded time, and bytes per second, wanted and moved."""
    rows = [(stride, f"{recorded_us(stride):,}", f"{wanted_gb_s(stride):,.0f}", f"{moved_gb_s(stride):,.0f}") for stride in strides]
    return Table(("stride", "µs", "GB/s that we want", "GB/s in whole sectors"), rows,
                 f"A copy of 2²⁶ floats. {label()}. 1 GB/s is 10⁹ bytes per second, read and written")
