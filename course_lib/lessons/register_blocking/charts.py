"""Pictures of recordings on an H200: the time over the warps, and over the words that are loaded again."""

from course_lib import data
from course_lib.explorables.warps import tile_of
from course_lib.lessons.register_blocking import again
from course_lib.lessons.register_blocking.counts import N_TIMED
from course_lib.lessons.register_blocking.experiments import recorded, times_by_warps
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

WARPS_OF_BLOCK = 8              # 16 × 16 threads, at every point of the chart
LINES = ("#949494", "#5F5F5F", style.INK, style.VERMILION)      # the lesson's other hues have meanings: loads, multiply-adds, A and B


@style.styled
def warps_and_outputs() -> Picture:
    """Draw the time of one kernel over its warps, a line for each number of outputs: its blocks ask for shared memory that nobody uses."""
    ax = style.axes(width=9.0, height=5.1)
    told = []
    for (outputs, taken), marker, colour in zip(times_by_warps().items(), style.MARKERS, LINES, strict=False):
        side = round(outputs**0.5)
        ax.semilogy(list(taken), list(taken.values()), marker=marker, color=colour)
        last = max(taken)
        for warps, ms in taken.items():
            beside = (3, 9) if warps < last else (-10, -20) if warps > 2 * WARPS_OF_BLOCK else (-33, -11)      # off the dashed line
            ax.annotate(f"{ms:.1f}", (warps, ms), beside, textcoords="offset points", fontsize=11)
        name = f"{side} × {side}"
        ax.annotate(name + " outputs\nper thread" * (side == 1), (last, taken[last]), (10, 14 * (side == 1)), textcoords="offset points",
                    va="center", fontsize=13)
        told.append(f"{name}: " + ", ".join(f"{ms:.1f} with {warps}" for warps, ms in taken.items()))
    ax.set_xticks(sorted({warps for taken in times_by_warps().values() for warps in taken}))
    ax.set(xlabel=f"warps per multiprocessor, of 64\nN = {N_TIMED}, BK = {tile_of(1)['BK']}, {data.readings('again').label}",
           ylabel="ms (each mark doubles)", xlim=(4, 71), ylim=(3.5, 120))
    ax.set_yticks([5, 10, 20, 40, 80], ["5", "10", "20", "40", "80"])
    ax.minorticks_off()
    ax.axvline(2 * WARPS_OF_BLOCK, color=style.GREY, linewidth=1.2, linestyle="--", zorder=0)
    ax.annotate("16 warps per multiprocessor", (2 * WARPS_OF_BLOCK, 100), (8, 0), textcoords="offset points", va="center", fontsize=12)
    ax.grid(axis="y")
    most = max(max(taken) for taken in times_by_warps().values()) // WARPS_OF_BLOCK
    above = ax.secondary_xaxis("top")
    above.set_xticks([WARPS_OF_BLOCK * blocks for blocks in range(1, most + 1)], [str(blocks) for blocks in range(1, most + 1)])
    above.set_xlabel(f"blocks per multiprocessor, each of {WARPS_OF_BLOCK} warps", labelpad=8)
    return render(ax, "Milliseconds by outputs per thread and warps per multiprocessor, "
                      f"of which {WARPS_OF_BLOCK} are a block. " + ". ".join(told) + ".")


def _extra(variant: dict[str, int]) -> int:
    """Return how many loads or multiply-adds a thread executes for one k, besides those that it needs."""
    return round(again.OUTPUTS * (again.instructions(**variant) - again.instructions(ROWS=max(again.ROWS), LOADS=1)))


@style.styled
def words_or_work() -> Picture:
    """Draw the time of the kernel with 8 × 8 outputs over its extra loads or multiply-adds, and what shared memory needs."""
    ax = style.axes(width=9.0, height=4.6)
    told = []
    for loads, name, colour, marker in ((1, "extra loads", style.BLUE, "o"), (0, "extra multiply-adds", style.ORANGE, "s")):
        variants = [{"ROWS": rows, "LOADS": loads if rows < max(again.ROWS) else 1} for rows in again.ROWS]
        extra, words = [_extra(v) for v in variants], [again.words(**v) for v in variants]
        taken = [1e3 * recorded(again.ENTRY, v)["median_s"] for v in variants]
        ax.plot(extra, taken, marker=marker, color=colour)
        ax.annotate(name, (extra[-1], taken[-1]), (10, 0), textcoords="offset points", va="center", fontsize=13)
        for i, (x, ms) in enumerate(zip(extra, taken, strict=True)):
            if i or loads:
                beside = (-4, 9) if loads or i == 2 else (4, -17)
                ax.annotate(f"{ms:.1f}", (x, ms), beside, textcoords="offset points", ha="center", fontsize=11)
        told.append(f"{name}: " + ", ".join(f"{ms:.1f} with {x} and {n:g} words per multiply-add"
                                            for x, ms, n in zip(extra, taken, words, strict=True)))
        if loads:
            least = [1e3 * again.busy(**v) for v in variants]
            ax.plot(extra, least, color=colour, linestyle="--")
            ax.annotate(f"shared memory is busy\nfor at least {least[-1]:.1f} ms", (extra[-1], least[-1]), (10, -4),
                        textcoords="offset points", va="center", fontsize=12)
            told[-1] += f"; shared memory is busy for at least {', '.join(f'{ms:.1f}' for ms in least)} ms"
    ax.set(xlabel=f"extra instructions of a thread for one k, which needs 16 loads and 64 multiply-adds\nN = {N_TIMED}, "
           f"{data.readings('again').label}", ylabel="ms", xlim=(-4, 78), ylim=(0, 12.5), xticks=extra)
    ax.grid(axis="y")
    return render(ax, "Milliseconds of the kernel with 8 × 8 outputs per thread. With " + ". With ".join(told) + ".")
