"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

MEMORIES = {"the L2": False, "DRAM": True}


def promised(stages: int, dram: bool, tile: str = SMALL) -> float:
    """Return the cycles per step that the law promises, with two stages or more: those of products alone, or of copies if they are more.

    >>> promised(2, True), promised(3, True)
    (1280.5, 1047.3)
    """
    return period(stages, copies_alone(tile, True, dram), recorded(stages, tile, copies="zeros"))


def alone() -> Table:
    """Return the cycles of a step whose products are left out, and of one whose copies bring nothing."""
    rows = [(f"copies alone, from {name}", 2, f"{copies_alone(SMALL, True, dram):,.0f}") for name, dram in MEMORIES.items()]
    rows.append(("products alone", 3, f"{recorded(3, copies='zeros'):,.0f}"))
    return Table(("what a step does", "stages", "cycles per step"), rows,
                 f"Tiles of 64 × 64, BK = 16, one block of eight warps per multiprocessor, {data.readings('pipeline').label}")


def law() -> Table:
    """Return, for each number of stages, the cycles per step that the law promises, and those that were recorded."""
    rows = []
    for stages in STAGES:
        row = [str(stages)]
        for dram in MEMORIES.values():
            row += [f"{promised(stages, dram):,.0f}" if stages > 1 else "–", f"{recorded(stages, dram=dram):,.0f}"]
        rows.append(tuple(row))
    return Table(("stages", "L2: law", "L2: recorded", "DRAM: law", "DRAM: recorded"), rows,
                 f"Cycles per step, {data.readings('pipeline').label}; medians of nine launches")


@style.styled
def law_drawn() -> Picture:
    """Draw the recorded cycles per step over the number of stages, and the law's as lines."""
    ax, told = style.axes(width=7.2, height=3.7), []
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        found = [recorded(stages, dram=dram) for stages in STAGES]
        ax.plot(STAGES, found, marker=marker, markersize=12 - 4 * dram, linestyle="none", color=colour, label=f"from {name}")
        ax.plot(STAGES[1:], [promised(stages, dram) for stages in STAGES[1:]], color=colour, linestyle="--")
        told.append(f"from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found))
    ax.set_xticks(STAGES)
    ax.set(xlabel=f"stages\n{data.readings('pipeline').label}", ylabel="cycles per step", ylim=(0, 2300))
    ax.grid(axis="y")
    ax.legend(title="points: recorded; lines: the law")
    return render(ax, f"Recorded cycles per step with one to six stages. {'. '.join(told)}.")
