"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

MEMORIES = {"the L2": False, "DRAM": True}


def product_alone(tile: str = SMALL) -> float:
    """Return the cycles of a step whose copies bring zeros, with three stages: the law's first number; its second is `copies_alone`."""
    return recorded(3, tile, copies="zeros")


def promised(stages: int, dram: bool, tile: str = SMALL) -> float:
    """Return the cycles per step that the law promises, with two stages or more: those of a product, or of copies if they are more.

    >>> promised(2, True), promised(3, True), promised(2, False)
    (1280.5, 1047.3, 1047.3)
    """
    return period(stages, copies_alone(tile, dram), product_alone(tile))


def alone() -> Table:
    """Return the cycles of a step whose products are left out, and of one whose copies bring nothing."""
    rows = [(f"copies alone, from {name}", 2, f"{copies_alone(SMALL, dram):,.0f}") for name, dram in MEMORIES.items()]
    rows += [("a product, and ordering copies of zeros", 3, f"{product_alone():,.0f}")]
    return Table(("what a step does", "stages", "cycles per step"), rows,
                 f"Tiles of 64 × 64, BK = 16, one block of eight warps per multiprocessor, {data.readings('pipeline').label}")


def law() -> Table:
    """Return, for each number of stages, the cycles per step that the law promises, those recorded, and those of products alone."""
    rows = []
    for stages in STAGES:
        row = [str(stages)]
        for dram in MEMORIES.values():
            row += [f"{promised(stages, dram):,.0f}" if stages > 1 else "–", f"{recorded(stages, dram=dram):,.0f}"]
        rows.append((*row, *(f"{recorded(stages, copies=copies):,.0f}" for copies in ("zeros", "none"))))
    header = ("stages", "from the L2: the law", "recorded", "from DRAM: the law", "recorded", "product, zeros copied", "product, no copies")
    return Table(header, rows, f"Cycles per step, {data.readings('pipeline').label}; medians of nine launches")


@style.styled
def law_drawn() -> Picture:
    """Draw over the number of stages the recorded cycles per step, those of copies alone, and the law for both memories."""
    ax, told, several, product = style.axes(width=7.6, height=4.6), [], STAGES[1:], product_alone()
    fine = [2 + n / 50 for n in range(201)]
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        whole, beside, way = [recorded(stages, dram=dram) for stages in STAGES], 0.12 * dram - 0.06, copies_alone(SMALL, dram)
        copies = [recorded(stages, product="none", dram=dram) for stages in several]
        ax.plot(fine, [way / (stages - 1) for stages in fine], color=colour, linewidth=1, alpha=0.6, zorder=1)
        ax.plot(fine, [max(product, way / (stages - 1)) for stages in fine], color=colour, linestyle=("-", "--")[dram], linewidth=3,
                zorder=2, label=f"the law, from {name}")
        ax.plot([stages + beside for stages in STAGES], whole, marker=marker, markersize=9, linestyle="none", color=colour,
                label=f"recorded, from {name}")          # beside: no point covers another
        ax.plot([stages + beside for stages in several], copies, marker=marker, markersize=8, linestyle="none", color=colour,
                markerfacecolor="none", markeredgewidth=1.5, label=f"copies alone, from {name}")
        ax.text(*((2.6, 820) if dram else (2.1, 110)), f"{way:,.0f} / (stages − 1)")
        told += [f"{words} from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found) for words, found in
                 (("whole steps", whole), ("copies alone, from two stages on,", copies))]
    ax.text(1.82, product, f"a product:\n{product:,.0f}", ha="right", va="center")
    ax.set_xticks(STAGES)
    ax.set(xlabel=f"stages\n{data.readings('pipeline').label}", ylabel="cycles per step", ylim=(0, 2200))
    ax.legend(loc="upper right")
    return render(ax, f"Recorded cycles per step with one to six stages; {'; '.join(told)}. The law's line of DRAM falls to the level of a "
                  "product between two and three stages; the L2's is level. The points of whole steps lie near these lines. Copies alone "
                  "follow the lower branches for a while, then stay at about 420.")
