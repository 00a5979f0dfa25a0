"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

MEMORIES = {"the L2": False, "DRAM": True}
PRODUCTS = {"and ordering copies of zeros": "zeros", "and no copies": "none"}


def promised(stages: int, dram: bool, tile: str = SMALL) -> float:
    """Return the cycles per step that the law promises, with two stages or more: those of products alone, or of copies if they are more.

    >>> promised(2, True), promised(3, True)
    (1280.5, 1047.3)
    """
    return period(stages, copies_alone(tile, dram), recorded(stages, tile, copies="zeros"))


def alone() -> Table:
    """Return the cycles of a step whose products are left out, of one whose copies bring nothing, and of one without copies."""
    rows = [(f"copies alone, from {name}", 2, f"{copies_alone(SMALL, dram):,.0f}") for name, dram in MEMORIES.items()]
    rows += [(f"a product, {words}", 3, f"{recorded(3, copies=copies):,.0f}") for words, copies in PRODUCTS.items()]
    return Table(("what a step does", "stages", "cycles per step"), rows,
                 f"Tiles of 64 × 64, BK = 16, one block of eight warps per multiprocessor, {data.readings('pipeline').label}")


def law() -> Table:
    """Return, for each number of stages, the two numbers of which the law takes the larger, and the cycles per step that were recorded."""
    rows = []
    for stages in STAGES:
        row = [str(stages), f"{recorded(stages, copies='zeros'):,.0f}"]
        for dram in MEMORIES.values():
            row += [f"{copies_alone(SMALL, dram) / (stages - 1):,.0f}" if stages > 1 else "–", f"{recorded(stages, dram=dram):,.0f}"]
        rows.append(tuple(row))
    header = ["stages", "product, and ordering"]
    for name in ("L2", "DRAM"):
        header += [f"{name}: latency / (stages − 1)", f"{name}: recorded"]
    return Table(tuple(header), rows, f"Cycles per step, {data.readings('pipeline').label}; medians of nine launches")


@style.styled
def law_drawn() -> Picture:
    """Draw the recorded cycles per step over the number of stages, from two on, and the law's as lines; one stage is told in words."""
    ax, told, several = style.axes(width=7.2, height=3.7), [], STAGES[1:]
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        found = [recorded(stages, dram=dram) for stages in STAGES]
        beside = 0.12 * dram - 0.06                                # so that no point covers another
        ax.plot([stages + beside for stages in several], found[1:], marker=marker, markersize=8, linestyle="none", color=colour,
                label=f"from {name} (one stage: {found[0]:,.0f})")
        ax.plot(several, [promised(stages, dram) for stages in several], color=colour, linestyle=("--", ":")[dram], zorder=1)
        told.append(f"from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found))
    ax.set_xticks(several)
    ax.set(xlabel=f"stages\n{data.readings('pipeline').label}", ylabel="cycles per step", ylim=(900, 1400))
    ax.grid(axis="y")
    ax.legend(title="points: recorded; lines: the law")
    return render(ax, f"Recorded cycles per step with one to six stages. {'. '.join(told)}.")
