"""The naive kernel at sizes that are a multiple of 32, and at others: recorded clock cycles per step of the loop."""

from course_lib import data
from course_lib.data import Record
from course_lib.lessons.first_kernel.times import GHZ, cycles_per_step
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

KERNEL = "sgemm_thread"            # the same lines as sgemm_naive, recorded at many sizes
SMALLEST = 1300                    # below, a step takes longer at all recorded sizes but one, and it is not known why


def records() -> list[Record]:
    """Return the recordings of the naive kernel from N = 1300 on, in blocks of 16 × 16."""
    return sorted((r for r in data.load("wang").find(KERNEL) if r.N >= SMALLEST), key=lambda r: r.N)


def recorded_ms(N: int) -> float:
    """Return the recorded time of the naive kernel in milliseconds, to three digits, at one of the sizes that the chart shows.

    >>> recorded_ms(2048), recorded_ms(2047)
    (3.17, 2.62)
    """
    (record,) = (r for r in records() if r.N == N)
    return float(f"{1e3 * record.seconds:.3g}")


@style.styled
def odd_sizes() -> Picture:
    """Draw clock cycles per step against N, sizes that are a multiple of 32 in one colour, the others in another."""
    ax, found = style.axes(width=9.0, height=4.0), records()
    cycles = {r.N: cycles_per_step(r.seconds, r.N) for r in found}
    groups = ("N a multiple of 32", style.BLUE, "s", lambda N: N % 32 == 0), ("any other N", style.ORANGE, "o", lambda N: N % 32 != 0)
    for name, colour, marker, belongs in groups:
        chosen = [N for N in cycles if belongs(N)]
        ax.plot(chosen, [cycles[N] for N in chosen], linestyle="none", marker=marker, markersize=10, color=colour, label=name)
    ax.axhline(3, color=style.GREY, linestyle="--", linewidth=1.5, label="three lines, one per cycle")
    ax.set_xscale("log", base=2)
    for N, up in ((2049, 3), (2047, -6)):                              # they lie nearly on one another
        ax.annotate(f"N = {N}", (N, cycles[N]), (12, up), textcoords="offset points", va="center", fontsize=12)
    ticks = (1374, 1720, 2048, 4096, 8192)
    ax.set_xticks(ticks, [f"{N:,}" for N in ticks])
    ax.minorticks_off()
    ax.set(ylim=(0, 3.9), xlabel=f"N; blocks of 16 × 16, {data.load('wang').label}", ylabel=f"cycles per step, {GHZ:g} GHz")
    ax.legend(loc="lower right", ncols=3)
    return render(ax, described(cycles))


def described(cycles: dict[int, float]) -> str:
    """Say in words what the chart shows."""
    whole, other = ([value for N, value in cycles.items() if (N % 32 == 0) == wanted] for wanted in (True, False))
    return (f"Clock cycles per warp and step of the naive kernel at {GHZ:g} GHz. At {len(whole)} sizes that are a multiple of 32: "
            f"{min(whole):.2f} to {max(whole):.2f}, above three. At {len(other)} other sizes: {min(other):.2f} to "
            f"{max(other):.2f}, below three.")
