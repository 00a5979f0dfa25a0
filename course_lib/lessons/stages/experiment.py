"""Little's law held to what an H200 was recorded to do: a step's copies alone, its products alone, and both together."""

from course_lib import data
from course_lib.explorables.stages import SMALL, STAGES, copies_alone, recorded
from course_lib.lessons.stages.tiles import step_bytes
from course_lib.model.stages import period
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

FEW, MANY = "64 × 64", "64 × 64, 16 warps"           # the small tile with four warps, and with sixteen; SMALL has eight
STEP = step_bytes(64, 64, 16)
MEMORIES = {"the L2": False, "DRAM": True}
PRODUCTS = {"whole": "whole product", "half": "half a product"}


def promised(stages: int, dram: bool, product: str = "whole", tile: str = SMALL) -> float:
    """Return the cycles per step that the law promises, with two stages or more: those of products alone, or of copies if they are more.

    >>> promised(2, True), promised(3, True)
    (1280.5, 1047.3)
    """
    return period(stages, copies_alone(tile, True, dram), recorded(stages, tile, product, "zeros"))


def alone() -> Table:
    """Return the cycles of a step whose products are left out, and of one whose copies bring nothing."""
    rows = [(f"copies alone, from {name}", 2, f"{copies_alone(SMALL, True, dram):,.0f}") for name, dram in MEMORIES.items()]
    rows += [("products alone", stages, f"{recorded(stages, copies='zeros'):,.0f}") for stages in (2, 3)]
    return Table(("what a step does", "stages", "cycles per step"), rows,
                 f"Tiles of 64 × 64, BK = 16, one block of eight warps per multiprocessor, {data.readings('pipeline').label}")


def law() -> Table:
    """Return, for each number of stages, the cycles per step that the law promises, and those that were recorded."""
    rows = []
    for stages in STAGES:
        row = [str(stages)]
        for product, dram in (("whole", False), ("whole", True), ("half", True)):
            row += [f"{promised(stages, dram, product):,.0f}" if stages > 1 else "–", f"{recorded(stages, SMALL, product, dram=dram):,.0f}"]
        rows.append(tuple(row))
    header = ("stages", "L2: law", "L2: recorded", "DRAM: law", "DRAM: recorded", "DRAM, half a product: law", "recorded")
    return Table(header, rows, f"Cycles per step, {data.readings('pipeline').label}; medians of nine launches")


@style.styled
def law_drawn() -> Picture:
    """Draw the recorded cycles per step over the number of stages, and the law's as lines; two stages from DRAM have a ring."""
    only = style.axes(width=8.6, height=3.7)
    figure = only.figure
    only.remove()
    panels, told = figure.subplots(1, 2, sharey=True), []
    for ax, (product, title) in zip(panels, PRODUCTS.items(), strict=True):
        for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
            found = [recorded(stages, SMALL, product, dram=dram) for stages in STAGES]
            ax.plot(STAGES, found, marker=marker, markersize=12 - 4 * dram, linestyle="none", color=colour, label=f"from {name}")
            ax.plot(STAGES[1:], [promised(stages, dram, product) for stages in STAGES[1:]], color=colour, linestyle="--")
            told.append(f"{title}, from {name}: " + ", ".join(f"{cycles:,.0f}" for cycles in found))
        same = recorded(2, SMALL, product, dram=True)
        ax.plot(2, same, marker="o", markersize=20, linestyle="none", color=style.VERMILION, markerfacecolor="none", markeredgewidth=2)
        ax.annotate(f"{same:,.0f}", (2, same), textcoords="offset points", xytext=(14, 8), color=style.INK)
        ax.set_xticks(STAGES)
        ax.set(xlabel="stages", title=title, ylim=(0, 2300))
        ax.grid(axis="y")
    panels[0].set(ylabel="cycles per step")
    panels[1].legend(title="points: recorded; lines: the law")
    figure.supxlabel(data.readings("pipeline").label, fontsize=11)
    return render(panels[0], f"Recorded cycles per step with one to six stages. {'. '.join(told)}. Marked by rings: two stages, from DRAM.")


def rate(stages: int, dram: bool) -> float:
    """Return the bytes per cycle that come to a multiprocessor when nothing is multiplied."""
    return STEP / recorded(stages, product="none", dram=dram)


def best_rate() -> float:
    """Return the highest of these rates, with any number of stages."""
    return max(rate(stages, dram) for stages in STAGES for dram in MEMORIES.values())


@style.styled
def bandwidth() -> Picture:
    """Draw the bytes per cycle of the copies alone over the bytes that are on their way, and Little's law as lines."""
    ax = style.axes(width=8.2, height=3.6)
    ahead, told = STAGES[1:], []
    for (name, dram), colour, marker in zip(MEMORIES.items(), style.CYCLE, style.MARKERS, strict=False):
        way, found = [(stages - 1) * STEP / 1024 for stages in ahead], [rate(stages, dram) for stages in ahead]
        latency = copies_alone(SMALL, True, dram)
        ax.plot(way, found, marker=marker, markersize=12 - 4 * dram, linestyle="none", color=colour, label=f"from {name}")
        ax.plot((0, best_rate() * latency / 1024), (0, best_rate()), color=colour, linestyle="--",
                label=f"bytes / {latency:,.0f} cycles")
        told.append(f"from {name}: " + ", ".join(f"{value:.1f}" for value in found))
    ax.axhline(best_rate(), color=style.GREY, linestyle=":", label=f"the most: {best_rate():.1f}")
    ax.set(xlabel=f"KiB on their way per multiprocessor\n{data.readings('pipeline').label}", ylabel="bytes per cycle", xlim=(0, 84),
           ylim=(0, 46))
    ax.set_xticks(range(0, 96, 16))
    ax.grid(axis="y")
    style.legend_beside(ax)
    return render(ax, f"Bytes per cycle that come to each multiprocessor with 16, 32, 48, 64 and 80 KiB on their way. {'; '.join(told)}.")


def warps() -> Table:
    """Return what a step's product takes with four, eight and sixteen warps, with and without ordering copies."""
    rows = []
    for count, tile in ((4, FEW), (8, SMALL), (16, MANY)):
        bare, ordering = (recorded(3, tile, copies=copies) for copies in ("none", "zeros"))
        rows.append((count, f"{bare:,.0f}", f"{ordering:,.0f}", f"{ordering - bare:,.0f}", f"{recorded(3, tile, dram=True):,.0f}"))
    header = ("warps per block", "products alone", "… and copies of zeros ordered", "difference", "the kernel, from DRAM")
    return Table(header, rows, f"Cycles per step, 64 × 64, three stages, one block per multiprocessor, {data.readings('pipeline').label}. "
                 "The tensor cores need 512")


def blocks() -> Table:
    """Return the cycles per step of a multiprocessor that has one block or two of four warps each."""
    rows = []
    for count in (1, 2):
        for stages in (1, 2, 3):
            rows.append((count, stages, *(f"{recorded(stages, FEW, blocks=count, dram=dram):,.0f}" for dram in MEMORIES.values())))
    return Table(("blocks per multiprocessor", "stages", *(f"cycles per step, from {name}" for name in MEMORIES)), rows,
                 f"Tiles of 64 × 64, four warps per block; the steps of both blocks count, {data.readings('pipeline').label}")
