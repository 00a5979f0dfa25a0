"""Pictures of recordings on an H200: the speed over the warps, and the kernels beside the model."""

from course_lib import data
from course_lib.explorables.warps import CYCLES, START
from course_lib.lessons.register_blocking.experiments import N_TIMED, times_by_warps
from course_lib.lessons.register_blocking.times import RUNGS, least, recorded_rung
from course_lib.model.rounds import SCHEDULERS, rounds
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import footprint

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


def started() -> dict[int, tuple[float, float]]:
    """Return multiply-adds per scheduler in 160 cycles, by outputs of a thread: in the model's long run, and in a recorded kernel.

    The recording counts a cycle as one of the GPU's highest clock.
    """
    found: dict[int, tuple[float, float]] = {}
    for TM, TN, kernel, tile in RUNGS:
        if TM == TN:
            warps = footprint(kernel, **tile).occupancy.warps // SCHEDULERS
            modelled = rounds(warps, TM + TN, TM * TN, start=START, cycles=CYCLES).multiply_adds
            found[TM * TN] = modelled, CYCLES * least(kernel, tile)["fma"] / recorded_rung(kernel, tile)["median_s"]
    return found


@style.styled
def picture_beside_kernels() -> Picture:
    """Draw how many multiply-adds a scheduler starts in 160 cycles: in the picture at the top, and in the recorded kernels."""
    found = started()
    ax = style.axes(width=9.0, height=4.2)
    at = range(len(found))
    for which, (name, colour) in enumerate((("the picture at the top", style.GREY), ("recorded kernels", style.BLUE))):
        values = [pair[which] for pair in found.values()]
        bars = ax.bar([x + 0.4 * (which - 0.5) for x in at], values, width=0.38, color=colour, label=name)
        ax.bar_label(bars, [f"{value:.0f}" if which == 0 else f"{value:.1f}" for value in values], padding=3, fontsize=13)
    ax.set_xticks(at, [f"{round(outputs ** 0.5)} × {round(outputs ** 0.5)}" for outputs in found], fontsize=13)
    ax.set(xlabel=f"outputs per thread\nN = {N_TIMED}, {data.readings('together').label}", ylabel=f"multiply-adds in {CYCLES} cycles",
           ylim=(0, 1.1 * CYCLES))
    ax.axhline(CYCLES, color=style.GREY, linestyle="--", linewidth=1.5)
    ax.annotate("one per cycle", (len(found) - 0.5, CYCLES), (0, 5), textcoords="offset points", ha="right", fontsize=13)
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.88))        # below the dashed line
    told = "; ".join(f"outputs per thread {outputs}: {modelled} and {real:.1f}" for outputs, (modelled, real) in found.items())
    return render(ax, f"Multiply-adds that a scheduler starts in {CYCLES} cycles, in the picture and in the recorded kernels. {told}.")
