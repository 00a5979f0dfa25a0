"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.bench.pipeline import READER
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

MEMORIES = {"the L2": False, "DRAM": True}
YOURS = range(2, 6)            # stages with which the reader's kernel was recorded


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
    rows = [(f"copies alone, from {name}", stages, f"{recorded(stages, product='none', dram=dram):,.0f}")
            for stages in (1, 2) for name, dram in MEMORIES.items()]
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


def law_of_yours() -> Table:
    """Return the same for the kernel that the reader writes, with two to five stages."""
    rows = []
    for stages in YOURS:
        row = [str(stages), f"{recorded(stages, READER, product='none', dram=True):,.0f}"]
        for dram in (True, False):
            row += [f"{promised(stages, dram, READER):,.0f}", f"{recorded(stages, READER, dram=dram):,.0f}"]
        rows.append(tuple(row))
    return Table(("stages", "copies alone, from DRAM", "from DRAM: the law", "recorded", "from the L2: the law", "recorded"), rows,
                 f"Your kernel (the worked one, with other numbers of stages): cycles per step, {data.readings('pipeline').label}")


@style.styled
def law_drawn() -> Picture:
    """Draw over the number of stages the recorded cycles of whole steps and of copies alone, each beside what the law says of it."""
    figure = style.figure_of(style.axes(width=9.6, height=4.4))
    figure.clear()
    whole, alone_ = figure.subplots(1, 2, sharey=True)
    told, fine, product = [], [2 + n / 50 for n in range(201)], product_alone()
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        way, points = copies_alone(SMALL, dram), {"marker": marker, "markersize": 9, "linestyle": "none", "color": colour}
        lines = {"color": colour, "linestyle": ("-", "--")[dram], "linewidth": 2.5, "zorder": 1}
        falling = [way / (stages - 1) for stages in fine]
        whole.plot(fine, [max(product, cycles) for cycles in falling], **lines)
        alone_.plot(fine, falling, **lines)
        steps, copies = ([recorded(stages, product=part, dram=dram) for stages in several]
                         for part, several in (("whole", STAGES), ("none", STAGES[1:])))
        beside = 0.12 * dram - 0.06                                     # no point covers another
        whole.plot([stages + beside for stages in STAGES], steps, label=f"from {name}", **points)
        alone_.plot([stages + beside for stages in STAGES[1:]], copies, **points)
        alone_.text(*((2.75, 830) if dram else (1.9, 90)), f"{way:,.0f} / (stages − 1)", color=style.INK)
        told += [f"{words} from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found) for words, found in
                 (("whole steps", steps), ("copies alone, from two stages on,", copies))]
    whole.text(6.1, product - 50, f"a product: {product:,.0f}", ha="right", va="top", color=style.INK)
    whole.legend(loc="upper right")
    for ax, title in ((whole, "Whole steps"), (alone_, "Copies alone")):
        ax.set_xticks(STAGES)
        ax.set(title=title, xlabel="stages", xlim=(0.7, 6.3), ylim=(0, 2200))
    whole.set_ylabel("cycles per step")
    figure.supxlabel(f"lines: the law; points: {data.readings('pipeline').label}", fontsize=12)
    return render(figure, f"Recorded cycles per step with one to six stages; {'; '.join(told)}. The law's line of DRAM falls to the level "
                  "of a product between two and three stages; the L2's is level. The points of whole steps lie near these lines. Copies "
                  "alone follow their falling lines for a while, then stay at about 420.")
