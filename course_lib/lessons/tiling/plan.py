"""The plan of the tiled kernel: which parts of A, B and C one block works on, and how its two tiles move."""

from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

BLOCKS, ROW, COLUMN, NOW = 4, 1, 2, 1          # blocks of C along each side; the block that is drawn; its tiles
T, TX, TY = 16, 3, 5                           # threads along a side of a block; the thread that is marked
ALT = ("C lies at the bottom right, A to its left and B above it, each cut into 4 × 4 tiles. One tile of C is marked: it belongs to one "
       "block. To compute it, the block needs the four tiles of A to its left and the four tiles of B above it. One tile of A and one of B "
       "are filled: they are in shared memory now. Arrows say that next the tile of A moves one to the right and the tile of B one down. "
       f"A dot in each of these three tiles, in column {TX} and row {TY} of its 16, is thread ({TX}, {TY}): what it loads of A and of B, "
       "and what it computes of C.")
KEY = ("green: one block's tile of C\nblue: in shared memory now\nstriped: before and after\n"
       f"dots: thread ({TX}, {TY}) loads\none of A and one of B,\nand computes one of C")


@style.styled
def plan() -> Picture:
    """Draw which tiles of A and B one block of C goes through."""
    ax = style.axes(width=7.0, height=5.2)
    far, gap = BLOCKS + 0.6, 0.6
    for name, x, y in (("A", 0, far), ("B", far, 0), ("C", far, far)):
        for i in range(BLOCKS):
            for j in range(BLOCKS):
                ax.add_patch(Rectangle((x + j, y + i), 1, 1, facecolor=style.PALE, edgecolor=style.GREY, linewidth=1))
        ax.text(x - 0.12, y - 0.1, name, fontsize=16, weight="bold", ha="right" if name != "A" else "left", va="bottom")
    for step in range(BLOCKS):
        for x, y in ((step, far + ROW), (far + COLUMN, step)):
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=style.BLUE if step == NOW else "white", edgecolor=style.INK,
                                   linewidth=1.6, hatch="" if step == NOW else "//"))
    ax.add_patch(Rectangle((far + COLUMN, far + ROW), 1, 1, facecolor=style.GREEN, edgecolor=style.INK, linewidth=1.6))
    for x, y in ((NOW, far + ROW), (far + COLUMN, NOW), (far + COLUMN, far + ROW)):
        ax.plot(x + (TX + 0.5) / T, y + (TY + 0.5) / T, "o", color=style.YELLOW, markeredgecolor=style.INK, markersize=8)
    across, down = far + ROW + 0.5, far + COLUMN + 0.5
    for start, end in (((NOW + 0.7, across), (NOW + 1.6, across)), ((down, NOW + 0.7), (down, NOW + 1.6))):
        ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=22, linewidth=2.4, color=style.INK))
    ax.text(-0.3, gap, KEY, fontsize=10.5, va="top", linespacing=1.5)
    ax.set(xlim=(-0.4, far + BLOCKS + 0.1), ylim=(far + BLOCKS + 0.1, -0.75), aspect="equal")
    ax.axis("off")
    return render(ax, ALT)
