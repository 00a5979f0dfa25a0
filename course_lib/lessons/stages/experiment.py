"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

MEMORIES = {"the L2": False, "DRAM": True}
PRODUCTS = {"and ordering copies of zeros": "zeros", "and no copies": "none"}


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
    """Return the cycles of a step whose products are left out, of one whose copies bring nothing, and of one without copies."""
    rows = [(f"copies alone, from {name}", 2, f"{copies_alone(SMALL, dram):,.0f}") for name, dram in MEMORIES.items()]
    rows += [(f"a product, {words}", 3, f"{recorded(3, copies=copies):,.0f}") for words, copies in PRODUCTS.items()]
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
    return Table(("stages", "from the L2: the law", "recorded", "from DRAM: the law", "recorded"), rows,
                 f"Cycles per step, {data.readings('pipeline').label}; medians of nine launches")


@style.styled
def law_drawn() -> Picture:
    """Draw the recorded cycles per step over the number of stages, and as lines the numbers of which the law takes the larger."""
    ax, told, several = style.axes(width=7.6, height=4.2), [], STAGES[1:]
    ax.plot(several, [product_alone()] * len(several), color=style.GREY, zorder=1)
    ax.text(STAGES[-1], product_alone() + 90, f"a product takes {product_alone():,.0f}", ha="right")
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        found, beside, way = [recorded(stages, dram=dram) for stages in STAGES], 0.12 * dram - 0.06, copies_alone(SMALL, dram)
        ax.plot(several, [way / (stages - 1) for stages in several], color=colour, linestyle=("--", ":")[dram], zorder=1)
        ax.plot([stages + beside for stages in STAGES], found, marker=marker, markersize=9, linestyle="none", color=colour,
                label=f"recorded, from {name}")          # beside: no point covers another
        x, y = (3.2, 660) if dram else (2.4, 380)
        ax.text(x, y, f"{name.removeprefix('the ')}: {way:,.0f} / (stages − 1)", ha="left" if dram else "right")
        told.append(f"from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found))
    ax.set_xticks(STAGES)
    ax.set(xlabel=f"stages\n{data.readings('pipeline').label}", ylabel="cycles per step", ylim=(0, 2200))
    ax.legend(loc="upper right")
    return render(ax, f"Recorded cycles per step with one to six stages, {'; '.join(told)}. The falling line of DRAM crosses the level "
                  "line of a product between two and three stages; from there on the points lie near the level line.")
