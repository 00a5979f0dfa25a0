"""A picture of recordings on an H200: the time over the warps."""

from course_lib import data
from course_lib.lessons.register_blocking.experiments import N_TIMED, times_by_warps
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

WARPS_OF_BLOCK = 8              # 16 × 16 threads, at every point of the chart


@style.styled
def warps_and_outputs() -> Picture:
    """Draw the time of one kernel over its warps, a line for each number of outputs: its blocks ask for shared memory that nobody uses."""
    ax = style.axes(width=9.0, height=5.1)
    told = []
    for (outputs, taken), marker, colour in zip(times_by_warps().items(), style.MARKERS, style.CYCLE, strict=False):
        side = round(outputs**0.5)
        ax.semilogy(list(taken), list(taken.values()), marker=marker, color=colour)
        last = max(taken)
        name = f"{side} × {side}"
        ax.annotate(name + " outputs per thread" * (side == 2), (last, taken[last]), (10, 0), textcoords="offset points", va="center",
                    fontsize=13)
        told.append(f"{name}: " + ", ".join(f"{ms:.1f} with {warps}" for warps, ms in taken.items()))
    ax.set_xticks(sorted({warps for taken in times_by_warps().values() for warps in taken}))
    ax.set(xlabel=f"warps per multiprocessor (modelled), of 64\nN = {N_TIMED}, {data.load('outputs').label}",
           ylabel="ms (each mark doubles)", xlim=(4, 71), ylim=(4, 100))
    ax.set_yticks([5, 10, 20, 40, 80], ["5", "10", "20", "40", "80"])
    ax.minorticks_off()
    ax.grid(axis="y")
    most = max(max(taken) for taken in times_by_warps().values()) // WARPS_OF_BLOCK
    above = ax.secondary_xaxis("top")
    above.set_xticks([WARPS_OF_BLOCK * blocks for blocks in range(1, most + 1)], [str(blocks) for blocks in range(1, most + 1)])
    above.set_xlabel(f"blocks per multiprocessor, each of {WARPS_OF_BLOCK} warps", labelpad=8)
    return render(ax, "Milliseconds by outputs per thread and warps per multiprocessor, "
                      f"of which {WARPS_OF_BLOCK} are a block. " + ". ".join(told) + ".")
