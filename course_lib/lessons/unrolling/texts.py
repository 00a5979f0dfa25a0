"""One line of the kernel three times: CUDA C, PTX and SASS, as the compiler links them."""

from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.lessons.unrolling.counts import KERNEL, TILE
from course_lib.plots import LinkedCode, linked_code, render, style
from course_lib.plots.picture import Picture

LINE = "acc += As[ty][k] * Bs[k][tx];"
TITLES = ("CUDA C: what you write", "PTX: for an imaginary GPU", "SASS: what a GPU executes")
ARROWS = ("compiler", "assembler")
ALT = ("Three boxes from left to right. CUDA C, what you write: the line acc += As[ty][k] * Bs[k][tx]. An arrow, the compiler, leads to "
       "PTX, for an imaginary GPU: two loads, ld.shared, and a multiply-add, fma. An arrow, the assembler, leads to SASS, what a GPU "
       "executes: two loads, LDS, and a multiply-add, FFMA.")


def of_line(code: LinkedCode) -> tuple[list[str], list[str]]:
    """Return the PTX and the SASS that became of the line of the multiply-add."""
    line = next(n for n, text in enumerate(code.source, 1) if LINE in text)
    ptx, sass = ([" ".join(c.text.split()) for c in lines if c.line == line] for lines in (code.ptx, code.sass))
    return ptx, sass


@style.styled
def three_texts() -> Picture:
    """Draw the line of the multiply-add, and what the compiler and the assembler make of it when nothing is unrolled."""
    ptx, sass = of_line(linked_code(KERNEL, TILE=TILE, UNROLL=1))
    ax = style.axes(width=10.4, height=2.4)
    boxes = ((0.0, 2.6, TITLES[0], ["acc += As[ty][k]", "     * Bs[k][tx];"]), (3.75, 4.3, TITLES[1], ptx), (9.2, 3.1, TITLES[2], sass))
    for x, wide, title, lines in boxes:
        ax.add_patch(Rectangle((x, 0), wide, 2, facecolor="none", edgecolor=style.GREY, linewidth=1.6))
        ax.text(x, 2.15, title, fontsize=12.5, weight="bold", va="bottom")
        for i, text in enumerate(lines):
            ax.text(x + 0.12, 1.55 - 0.5 * i, text, fontsize=11.5, family="DejaVu Sans Mono", va="center")
    for x, name in ((2.65, ARROWS[0]), (8.1, ARROWS[1])):
        ax.add_patch(FancyArrowPatch((x, 1), (x + 1.05, 1), arrowstyle="-|>", mutation_scale=20, linewidth=2.2, color=style.GREY))
        ax.text(x + 0.52, 0.7, name, fontsize=10.5, ha="center", va="top")
    ax.set(xlim=(-0.05, 12.35), ylim=(-0.1, 2.6))
    ax.axis("off")
    return render(ax, ALT)
