"""What the strided copy took on a real GPU, over the sectors that its loads and stores touch."""

from course_lib.arch import device
from course_lib.lessons.coalescing.experiments import COPIED, copy_us, label
from course_lib.plots import Picture, render, style
from course_lib.widgets.compute import evaluate

N_COUNTED = 4096                          # floats that are copied in the simulator
STRIDES = range(1, 9)
SECTOR = 32                               # bytes


def recorded_us(stride: int = 1, offset: int = 0) -> int:
    """Return the recorded time of a copy of 2²⁶ floats in microseconds."""
    return round(copy_us(stride, offset))


def sectors_per_32(stride: int) -> float:
    """Return the sectors, of loads and stores, for 32 floats of the course's strided copy, counted by the simulator.

    >>> sectors_per_32(1), sectors_per_32(8)
    (8.0, 36.0)
    """
    copy = evaluate("copy_strided", N_COUNTED, {"stride": stride, "offset": 0, "VEC": 1}, backend="sim")
    return 32 * (copy.count("sectors") + copy.count("sectors", "store")) / N_COUNTED


def least_us(sectors: float) -> float:
    """Return the microseconds in which memory, at its data sheet's rate, moves all sectors of 2²⁶ floats; `sectors` per 32 of them."""
    return sectors * SECTOR * COPIED / 32 / (1e3 * device("H200").bandwidth_gb_s)


@style.styled
def stride_chart() -> Picture:
    """Draw the time of the copy over its stride, and the least that memory needs for all sectors."""
    sectors, times = [sectors_per_32(s) for s in STRIDES], [recorded_us(s) for s in STRIDES]
    ax = style.axes(width=9.0, height=4.8)
    peak = device("H200").bandwidth_gb_s / 1e3
    ax.plot(STRIDES, [least_us(x) for x in sectors], color=style.GREY, linestyle="--",
            label=f"all sectors at {peak:g} TB/s, the memory's rate")
    ax.plot(STRIDES, times, color=style.BLUE, marker="o", label="the copy, one float per thread")
    for stride, us in zip(STRIDES, times, strict=True):
        ax.annotate(f"{us}", (stride, us), xytext=(-4, 9), textcoords="offset points", ha="right" if stride > 1 else "center")
    ax.set(xlabel=f"stride, and below it the sectors that load and store touch for 32 floats\n{label()}",
           ylabel="µs for 2²⁶ floats", xlim=(0.4, STRIDES[-1] + 0.4), ylim=(0, 600))
    ax.set_xticks(STRIDES, [f"{stride}\n({x:g})" for stride, x in zip(STRIDES, sectors, strict=True)])
    ax.legend(frameon=False, loc="lower right")
    said = [f"stride {s}: {x:g} sectors, {us}" for s, x, us in zip(STRIDES, sectors, times, strict=True)]
    return render(ax, "Microseconds of a copy over its stride, with the sectors per 32 floats. " + "; ".join(said)
                  + f". All sectors at {peak:g} TB/s would take from {least_us(sectors[0]):.0f} to {least_us(sectors[-1]):.0f}.")
