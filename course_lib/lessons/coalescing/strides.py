"""What the strided copy took on a real GPU, beside the sectors of its requests."""

from course_lib import data
from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.data import Record
from course_lib.plots import Picture, Table, lines, render, style
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED = 2**26, 4096          # floats that are copied
STRIDES = (1, 2, 3, 4, 8, 16, 32)
FLOAT = 4                                 # bytes


def record_of(stride: int = 1, offset: int = 0, VEC: int = 1) -> Record:
    """Return the recorded copy of 2²⁶ floats with these parameters."""
    wanted = {"stride": stride, "offset": offset, "VEC": VEC, "threads": 256}
    return next(r for r in data.load("strides").find(N=N_TIMED) if r.parameters == wanted)


def label() -> str:
    """Say what was copied, where and when."""
    return f"2²⁶ floats, {data.load('strides').label}"


def recorded_us(stride: int = 1, offset: int = 0, VEC: int = 1) -> int:
    """Return the recorded time of a copy of 2²⁶ floats in microseconds."""
    return round(1e6 * record_of(stride, offset, VEC).median_s)


def sectors_per_request(stride: int = 1, offset: int = 0, VEC: int = 1) -> float:
    """Return the sectors per load request of the course's strided copy, counted by the simulator."""
    return evaluate("copy_strided", N_COUNTED, {"stride": stride, "offset": offset, "VEC": VEC}, backend="sim").sectors_per_request()


def moved_gb_s(stride: int, VEC: int = 1) -> float:
    """Return 10⁹ bytes per second in whole sectors, read and written: what load and store requests touch, over the recorded time."""
    requests = N_TIMED / (WARP * VEC)
    stored = VEC * WARP * FLOAT / SECTOR_BYTES
    return requests * (sectors_per_request(stride, VEC=VEC) + stored) * SECTOR_BYTES / record_of(stride, VEC=VEC).median_s / 1e9


def stride_times(*strides: int) -> Table:
    """Return a table of the copy with these strides: sectors per request, recorded time, and bytes per second, wanted and moved."""
    rows = [(stride, f"{sectors_per_request(stride):g}", f"{recorded_us(stride):,}", f"{record_of(stride).gb_s:,.0f}",
             f"{moved_gb_s(stride):,.0f}") for stride in strides]
    return Table(("stride", "sectors per load request, simulated", "µs", "GB/s that we want", "GB/s in whole sectors"), rows,
                 f"A copy of {label()}, launch by launch. 1 GB/s is 10⁹ bytes per second, read and written")


def sectors_us(stride: int) -> float:
    """Return the microseconds that whole sectors would take at the speed of the fastest recorded copy: stride 1, four floats per load."""
    moved = N_TIMED / WARP * sectors_per_request(stride) * SECTOR_BYTES + N_TIMED * FLOAT
    return moved / moved_gb_s(1, VEC=4) / 1e3


def stride_chart() -> Picture:
    """Draw the recorded time against the stride, and the time that whole sectors would take at the speed of the fastest copy."""
    times = [1e6 * record_of(stride).median_s for stride in STRIDES]
    by_sectors = [sectors_us(stride) for stride in STRIDES]
    speed = f"{moved_gb_s(1, VEC=4):,.0f} GB/s"
    ax = lines(STRIDES, {"recorded": times}, predicted={f"if only whole sectors counted, at {speed}": by_sectors}, xlabel="stride, floats",
               ylabel="µs", log=True, title="The time of a strided copy", note=label())
    fastest = 1e6 * record_of(1, VEC=4).median_s
    ax.plot([1], [fastest], linestyle="none", marker="o", markersize=10, markerfacecolor="none", markeredgecolor=style.CYCLE[0],
            markeredgewidth=2, label="recorded, 4 floats per lane", clip_on=False)
    ax.legend(frameon=True, framealpha=1, edgecolor="none")
    said = [", ".join(f"{t:,.0f} at {s}" for s, t in zip(STRIDES, found, strict=True)) for found in (times, by_sectors)]
    return render(ax, f"Microseconds against the stride, recorded: {said[0]}. A hollow dot: {fastest:,.0f} at 1 when each lane "
                      f"loads 4 floats. A second line shows what whole sectors alone would take at {speed}: {said[1]}.")
