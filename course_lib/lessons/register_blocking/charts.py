"""Pictures of recordings on an H200: the time beside the wavefronts, the speed beside the warps, and the kernels beside the model."""

from course_lib import data
from course_lib.lessons.register_blocking.counts import wavefronts
from course_lib.lessons.register_blocking.experiments import (
    N_TIMED,
    PAIR,
    at_counted,
    milliseconds,
    padded,
    recorded,
    speeds_by_warps,
)
from course_lib.lessons.register_blocking.times import RUNGS, least
from course_lib.lessons.register_blocking.times import recorded as rung_recorded
from course_lib.model.rounds import SCHEDULERS, rounds
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import footprint
from course_lib.widgets.compute import evaluate

CYCLES = 160                   # that the picture at the top of the lesson shows
BARS = {"lesson 06's kernel, PAD 4": padded(4), "PAD 8": padded(8), "PAD 0": padded(0), "32 × 32 tile, 1 output": (PAIR[0], {}),
        "4 outputs": (PAIR[1], {})}


def times_by_wavefronts() -> dict[str, tuple[float, float]]:
    """Return, for each kernel of the pairs, the ms that its wavefronts take alone and the ms that were recorded."""
    return {name: (milliseconds(wavefronts(evaluate(*at_counted(kernel), backend="sim"))), 1e3 * recorded(*kernel).median_s)
            for name, kernel in BARS.items()}


@style.styled
def times_beside_wavefronts() -> Picture:
    """Draw the kernels of the pairs as bars: the time that the wavefronts take alone, and the rest of the recorded time."""
    found = times_by_wavefronts()
    ax = style.axes(width=9.0, height=3.9)
    alone, rest = [waves for waves, _ in found.values()], [time - waves for waves, time in found.values()]
    ax.barh(range(len(found)), alone, color=style.BLUE, height=0.66, label="wavefronts alone, one per cycle")
    ax.barh(range(len(found)), rest, left=alone, color=style.ORANGE, height=0.66, label="the rest of the recorded time")
    for at, (waves, time) in enumerate(found.values()):
        ax.annotate(f"{waves:.1f} of {time:.1f} ms", (time, at), (6, 0), textcoords="offset points", va="center", fontsize=13)
    ax.set_yticks(range(len(found)), list(found), fontsize=13)
    ax.invert_yaxis()
    ax.set(xlabel=f"ms at N = {N_TIMED}, {data.load('wang').label}", xlim=(0, 103))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.9))
    told = "; ".join(f"{name}: {waves:.1f} of {time:.1f} ms" for name, (waves, time) in found.items())
    return render(ax, f"Bars: the time that shared memory needs for the wavefronts, of the recorded time. {told}.")


@style.styled
def fewer_warps() -> Picture:
    """Draw the speed of two kernels whose blocks ask for shared memory that nobody uses, so that fewer warps fit."""
    ax = style.axes(width=9.0, height=4.6)
    told = []
    for (outputs, speeds), marker, colour in zip(speeds_by_warps().items(), style.MARKERS, style.CYCLE, strict=False):
        name, thousands = f"{outputs} outputs per thread", {warps: speed / 1e3 for warps, speed in speeds.items()}
        ax.plot(list(thousands), list(thousands.values()), marker=marker, color=colour, label=name)
        below = outputs == min(speeds_by_warps())
        for warps, speed in thousands.items():
            ax.annotate(f"{speed:.1f}", (warps, speed), (0, -19 if below else 9), textcoords="offset points", ha="center", fontsize=12)
        told.append(f"{name}: " + ", ".join(f"{speed:.1f} with {warps} warps" for warps, speed in thousands.items()))
    ax.set_xticks(sorted({warps for found in speeds_by_warps().values() for warps in found}))
    ax.set(xlabel=f"warps per multiprocessor (modelled), of 64\nN = {N_TIMED}, {data.load('active').label}", ylabel="thousand GFLOP/s",
           ylim=(0, 38))
    ax.grid(axis="y")
    ax.legend(loc="upper left")
    return render(ax, "The same code with fewer warps, in thousand GFLOP/s. " + ". ".join(told) + ".")


def started() -> dict[int, tuple[float, float]]:
    """Return multiply-adds per scheduler in 160 cycles, by outputs of a thread: in the model's long run, and in a recorded kernel.

    The recording counts a cycle as one of the GPU's highest clock.
    """
    found = {}
    for TM, TN, kernel, tile in RUNGS:
        if TM == TN:
            warps = footprint(kernel, **tile).occupancy.warps // SCHEDULERS
            modelled = rounds(warps, TM + TN, TM * TN, start=640, cycles=CYCLES).multiply_adds
            found[TM * TN] = modelled, CYCLES * least(kernel, tile)["fma"] / rung_recorded(kernel, tile).median_s
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
    ax.set(xlabel=f"outputs per thread\nN = {N_TIMED}, {data.load('tuned').label}", ylabel=f"multiply-adds in {CYCLES} cycles",
           ylim=(0, 1.1 * CYCLES))
    ax.axhline(CYCLES, color=style.GREY, linestyle="--", linewidth=1.5)
    ax.annotate("one per cycle", (len(found) - 0.5, CYCLES), (0, 5), textcoords="offset points", ha="right", fontsize=13)
    ax.legend(loc="upper left")
    told = "; ".join(f"outputs per thread {outputs}: {modelled} and {real:.1f}" for outputs, (modelled, real) in found.items())
    return render(ax, f"Multiply-adds that a scheduler starts in {CYCLES} cycles, in the picture and in the recorded kernels. {told}.")
