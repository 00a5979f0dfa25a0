"""The picture beside the sliders: a warp's elements of C, and the sectors and lines of A and B that it touches in one step."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.first_kernel.counts import KERNELS, warp_in_c
from course_lib.lessons.first_kernel.times import FLOATS, LINE
from course_lib.lessons.first_kernel.touched import STEP, asked, extent, lines
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.traces import Owners
from course_lib.widgets.pictures import who_writes

SIDE, DEEP, GAP = LINE, 6, 3                   # rows and columns of the matrices; rows of B that are drawn; between matrices
SIZE = {"width": 7.0, "height": 4.1}           # inches: beside the table, or in a narrow notebook below it
PLACES = {"A": (0, DEEP + GAP, SIDE), "B": (SIDE + GAP, 0, DEEP), "C": (SIDE + GAP, DEEP + GAP, SIDE)}     # left, top, rows
HUES = {"A": style.BLUE, "B": style.VERMILION, "C": style.GREEN}
SECTORS, LINES = {"A": "#6DB3DD", "B": "#F0A468"}, {"A": "#D6EAF6", "B": "#FBE3D3"}
TINTS = (style.PALE, "#D0D0D0")                # of neighbouring warps
CAPTION = (f"step k = {STEP} of the green warp\n"
           "dark: numbers it asks for; lighter: the rest\nof their sectors; faint: the rest of their lines")


@style.styled
def who_stores(result: RunResult) -> tuple[Axes, str]:
    """Draw what a warp computes and touches, with the kernel and the block of a result; return (Axes, alternative text)."""
    kernel = next(name for name, of_catalog in KERNELS.items() if of_catalog == result.kernel.name)
    bx, by = result.block[:2]
    found = {array: asked(kernel, array, (bx, by), SIDE) for array in "ABC"}
    ax = style.axes(None, **SIZE)
    draw_warps(ax, who_writes(result.kernel, **result.parameters), warp_in_c(kernel, bx, by))
    for array in "ABC":
        draw_matrix(ax, array, found[array])
    ax.text(-1.6, 0, CAPTION, fontsize=11, va="top", linespacing=1.4)
    ax.set(xlim=(-2, 2 * SIDE + GAP + 0.5), ylim=(DEEP + GAP + SIDE + 0.5, -0.5), aspect=0.92)
    ax.axis("off")
    return ax, f"{extent(found['C'])} of C, which one warp computes, and the lines and sectors of A and B that it touches in step {STEP}."


def box(array: str, row: int, column: int, high: int = 1, wide: int = 1, **drawn: Any) -> Rectangle:
    """Return a rectangle over elements of a matrix."""
    left, top, _ = PLACES[array]
    return Rectangle((left + column, top + row), wide, high, **{"edgecolor": "none"} | drawn)


def draw_warps(ax: Axes, who: Owners, shape: tuple[int, int]) -> None:
    """Draw the warps of all blocks over C in two tints, and thick lines around the blocks."""
    high, wide = shape
    for row in range(0, SIDE, high):
        for column in range(0, SIDE, wide):
            ax.add_patch(box("C", row, column, high, wide, facecolor=TINTS[(row // high + column // wide) % 2]))
    for x, y in {*zip(who.block_x.flat, who.block_y.flat, strict=True)}:
        rows, columns = np.nonzero((who.block_x == x) & (who.block_y == y))
        edge = [int(n) for n in (rows.min(), columns.min(), np.ptp(rows) + 1, np.ptp(columns) + 1)]
        ax.add_patch(box("C", *edge, facecolor="none", edgecolor=style.INK, linewidth=1.3, zorder=3))


def draw_matrix(ax: Axes, array: str, places: set[tuple[int, int]]) -> None:
    """Draw a matrix: its rows, of A and B the lines and sectors that are touched, and the numbers or elements of the warp."""
    left, top, rows = PLACES[array]
    for row in lines(places) if array in LINES else ():
        ax.add_patch(box(array, row, 0, wide=LINE, facecolor=LINES[array]))
    for row, sector in {(row, column // FLOATS) for row, column in places} if array in LINES else ():
        ax.add_patch(box(array, row, sector * FLOATS, wide=FLOATS, facecolor=SECTORS[array]))
    for row, column in places:
        ax.add_patch(box(array, row, column, facecolor=HUES[array], edgecolor=HUES[array], linewidth=0.5))     # no gaps between them
    for row in range(rows + 1):
        ax.plot([left, left + SIDE], [top + row] * 2, color=style.GREY, linewidth=0.4)
    for column in range(0, SIDE + 1, FLOATS if array in LINES else SIDE):
        ax.plot([left + column] * 2, [top, top + rows], color=style.GREY, linewidth=0.6)
    ax.text(left - 0.6, top + rows / 2, array, fontsize=13, weight="bold", ha="right", va="center", color=HUES[array])
