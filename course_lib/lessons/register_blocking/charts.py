"""Pictures of recordings on an H200: the time over the warps, and over the words that are loaded again."""

from course_lib import data
from course_lib.explorables.warps import tile_of
from course_lib.lessons.register_blocking import again
from course_lib.lessons.register_blocking.counts import N_TIMED
from course_lib.lessons.register_blocking.experiments import recorded, times_by_warps
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
        for warps, ms in taken.items():
            beside = (-10, -20) if warps == last else (3, 9)
            ax.annotate(f"{ms:.1f}", (warps, ms), beside, textcoords="offset points", fontsize=11)
        name = f"{side} × {side}"
        ax.annotate(name + " outputs per thread" * (side == 2), (last, taken[last]), (10, 0), textcoords="offset points", va="center",
                    fontsize=13)
        told.append(f"{name}: " + ", ".join(f"{ms:.1f} with {warps}" for warps, ms in taken.items()))
    ax.set_xticks(sorted({warps for taken in times_by_warps().values() for warps in taken}))
    ax.set(xlabel=f"warps per multiprocessor, of 64\nN = {N_TIMED}, BK = {tile_of(1)['BK']}, {data.readings('again').label}",
           ylabel="ms (each mark doubles)", xlim=(4, 71), ylim=(3.5, 120))
    ax.set_yticks([5, 10, 20, 40, 80], ["5", "10", "20", "40", "80"])
    ax.minorticks_off()
    ax.axvline(2 * WARPS_OF_BLOCK, color=style.GREY, linewidth=1.2, linestyle="--", zorder=0)
    ax.annotate("16 warps each", (2 * WARPS_OF_BLOCK, 100), (8, 0), textcoords="offset points", va="center", fontsize=12)
    ax.grid(axis="y")
    most = max(max(taken) for taken in times_by_warps().values()) // WARPS_OF_BLOCK
    above = ax.secondary_xaxis("top")
    above.set_xticks([WARPS_OF_BLOCK * blocks for blocks in range(1, most + 1)], [str(blocks) for blocks in range(1, most + 1)])
    above.set_xlabel(f"blocks per multiprocessor, each of {WARPS_OF_BLOCK} warps", labelpad=8)
    return render(ax, "Milliseconds by outputs per thread and warps per multiprocessor, "
                      f"of which {WARPS_OF_BLOCK} are a block. " + ". ".join(told) + ".")


@style.styled
def words_or_work() -> Picture:
    """Draw the time of the kernel with 8 × 8 outputs over the loads or multiply-adds that it executes, and what shared memory needs."""
    ax = style.axes(width=9.0, height=4.6)
    told = []
    for loads, name, colour, marker in ((1, "more loads", style.BLUE, "o"), (0, "more multiply-adds", style.ORANGE, "s")):
        variants = [{"ROWS": rows, "LOADS": loads if rows < max(again.ROWS) else 1} for rows in again.ROWS]
        points = [(again.instructions(**v), 1e3 * recorded(again.ENTRY, v)["median_s"], again.words(**v)) for v in variants]
        ax.plot([x for x, _, _ in points], [ms for _, ms, _ in points], marker=marker, color=colour)
        x, ms, _ = points[-1]
        ax.annotate(name, (x, ms), (10, 0), textcoords="offset points", va="center", fontsize=13)
        for i, (x, ms, words) in enumerate(points[1 - loads:]):
            said = f"{ms:.1f} ms, {words:g} words" if loads else f"{ms:.1f} ms"
            beside = (-8, 9 if i else -9) if loads else ((8, -14), (18, 12), (0, -16))[i]
            ax.annotate(said, (x, ms), beside, textcoords="offset points", ha="right" if loads else "center", va="center", fontsize=11)
        if loads:
            least = [1e3 * again.busy(**v) for v in variants]
            ax.plot([x for x, _, _ in points], least, color=colour, linestyle="--")
            ax.annotate(f"shared memory is busy\nfor at least {least[-1]:.1f} ms", (points[-1][0], least[-1]), (10, -4),
                        textcoords="offset points", va="center", fontsize=12)
        told.append(f"{name}: " + ", ".join(f"{ms:.1f} with {x:g} instructions and {words:g} words" for x, ms, words in points)
                    + (f"; shared memory is busy for at least {', '.join(f'{ms:.1f}' for ms in least)} ms" if loads else ""))
    ax.set(xlabel=f"loads and multiply-adds executed, per useful multiply-add\nN = {N_TIMED}, {data.readings('again').label}",
           ylabel="ms", xlim=(0.9, 2.6), ylim=(0, 12.5))
    ax.grid(axis="y")
    return render(ax, "Milliseconds of the kernel with 8 × 8 outputs per thread. With " + ". With ".join(told) + ".")
