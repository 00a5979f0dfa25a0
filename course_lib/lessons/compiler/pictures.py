"""The picture of lesson 21: the loop along K as Triton wrote it, instruction by instruction, for each number of stages."""

from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from course_lib.explorables.triton import COPY, LOAD, MULTIPLY, REST, WAIT, kind_of
from course_lib.kernels.triton import Setting, written
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.plots.ptx_loop import loop_lines

COLOURS = {COPY: style.BLUE, WAIT: style.VERMILION, LOAD: style.ORANGE, MULTIPLY: style.GREEN, REST: style.PALE}
STAGES = (1, 2, 3, 4)
HIGH = 0.34                      # of a strip: the kinds above, the lines of Python below


def strips(setting: Setting) -> tuple[list[tuple[str, int]], list[tuple[int, int]]]:
    """Return the loop's instructions in their order as (kind, how many), and as (line of Python, how many)."""
    code = loop_lines(written(setting))
    kinds = [(kind, sum(1 for _ in those)) for kind, those in groupby(kind_of(line.text) for line in code)]
    return kinds, [(number, sum(1 for _ in those)) for number, those in groupby(line.line or 0 for line in code)]


@style.styled
def draw_loop(arch: str = "sm_80") -> Axes:
    """Draw the loops: a strip for each number of stages, from left to right in the order of the PTX."""
    ax = style.axes(width=10.4, height=4.6)
    for row, stages in enumerate(STAGES):
        kinds, lines = strips(Setting(stages, arch))
        at = 0
        for kind, count in kinds:
            ax.barh(row - HIGH / 2, count, left=at, height=HIGH, color=COLOURS[kind], edgecolor="white", linewidth=0.4)
            at += count
        at = 0
        for number, count in lines:
            ax.barh(row + HIGH / 2, count, left=at, height=HIGH, color="white", edgecolor=style.GREY, linewidth=0.6)
            if count > 3:
                ax.text(at + count / 2, row + HIGH / 2, str(number), ha="center", va="center", fontsize=10.5)
            at += count
    ax.set_yticks(range(len(STAGES)), [f"num_stages = {stages}" for stages in STAGES])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"instructions of the loop in PTX, in their order, {arch}; below each strip the line of Python")
    ax.legend(handles=[Patch(color=colour, label=kind) for kind, colour in COLOURS.items()], ncols=3, loc="lower center",
              bbox_to_anchor=(0.45, 1.0), fontsize=11.5)
    return ax


def loop_picture(arch: str = "sm_80") -> Picture:
    """Draw the loops, with their order in words."""
    told = []
    for stages in STAGES:
        kinds = [kind_of(line.text) for line in loop_lines(written(Setting(stages, arch)))]
        order = [f"{kind} {sum(1 for _ in those)}" for kind, those in groupby(kind for kind in kinds if kind != REST)]
        told.append(f"num_stages = {stages}, {len(kinds)} instructions, of them {'; '.join(order)}")
    return render(draw_loop(arch), f"The loop that Triton wrote for {arch}, in the order of its PTX. {'. '.join(told)}.")
