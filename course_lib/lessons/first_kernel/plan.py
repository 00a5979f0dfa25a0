"""The plan of a launch: blocks over C, and one block with its threads and warps."""

from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch, Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

T, ROWS, COLUMNS = 16, 16, 32                # threads along each side of a block; elements of C
BLOCK, THREAD, WARP = (1, 0), (3, 5), 32     # x first, as CUDA counts
LEFT, SIZE = COLUMNS + 18, 2.0               # of the enlarged block: where it begins, and how large a thread is drawn
ON_PALE, BANDS, LINES = "#222222", ("#BFDDF0", "#E4F1F9"), "#7F8C99"
ALT = ("On the left C, 16 rows and 32 columns, covered by a grid of two blocks of 16 × 16 threads side by side; block (1, 0), the "
       "right one, is marked. On the right this block is enlarged. Its threads lie in 16 rows and 16 columns; "
       "threadIdx.x counts to the right, threadIdx.y downwards. Each warp is two rows of the block: warp 0 is rows 0 and 1, warp 7 "
       "rows 14 and 15. Thread (3, 5) is marked: it is lane 19 of warp 2 and computes the element in row 0 · 16 + 5 = 5 and column 1 "
       "· 16 + 3 = 19 of C.")


@style.styled
def plan() -> Picture:
    """Draw the grid over C, and one block enlarged."""
    ax = style.axes(width=10.0, height=4.3)
    draw_grid(ax)
    draw_block(ax)
    for y, edge in ((BLOCK[1] * T, 0), ((BLOCK[1] + 1) * T, T * SIZE)):
        ax.add_patch(ConnectionPatch(((BLOCK[0] + 1) * T, y), (LEFT, edge), "data", "data", color=style.GREY, linewidth=1.2))
    ax.set(xlim=(-1, LEFT + T * SIZE + 10), ylim=(T * SIZE + 1, -4), aspect="equal")
    ax.axis("off")
    return render(ax, ALT)


def draw_grid(ax: Axes) -> None:
    """Draw C, its blocks, and the element that the marked thread computes."""
    for y in range(ROWS // T):
        for x in range(COLUMNS // T):
            marked = (x, y) == BLOCK
            ax.add_patch(Rectangle((x * T, y * T), T, T, facecolor="#8CC6EA" if marked else style.PALE, edgecolor=style.INK, linewidth=1.4))
            ax.text((x + 0.5) * T, (y + 0.7) * T, f"({x}, {y})", ha="center", va="center", fontsize=12, color=ON_PALE)
    col, row = (BLOCK[i] * T + THREAD[i] for i in (0, 1))
    ax.add_patch(Rectangle((col, row), 1, 1, facecolor=style.YELLOW, edgecolor=ON_PALE, linewidth=1.2))
    ax.text(0, -1.2, "C, and its blocks (x, y)", fontsize=12.5, va="bottom")
    words = f"col = {BLOCK[0]} · {T} + {THREAD[0]} = {col}\nrow = {BLOCK[1]} · {T} + {THREAD[1]} = {row}"
    ax.text(0, ROWS + 1.5, words, fontsize=12.5, va="top", linespacing=1.5)


def draw_block(ax: Axes) -> None:
    """Draw one block's threads: a band for each warp, and the marked thread."""
    for warp in range(T * T // WARP):
        high = WARP // T * SIZE
        ax.add_patch(Rectangle((LEFT, warp * high), T * SIZE, high, facecolor=BANDS[warp % 2], edgecolor="none"))
        ax.text(LEFT + T * SIZE + 1, (warp + 0.5) * high, f"warp {warp}", fontsize=11.5, va="center")
    for i in range(T + 1):
        ax.plot([LEFT, LEFT + T * SIZE], [i * SIZE] * 2, color=LINES, linewidth=0.6)
        ax.plot([LEFT + i * SIZE] * 2, [0, T * SIZE], color=LINES, linewidth=0.6)
    x, y = (LEFT + THREAD[0] * SIZE, THREAD[1] * SIZE)
    ax.add_patch(Rectangle((x, y), SIZE, SIZE, facecolor=style.YELLOW, edgecolor=ON_PALE, linewidth=1.6, zorder=3))
    ax.text(x + SIZE + 1, y + SIZE / 2, "thread (3, 5), lane 19", fontsize=11.5, va="center", color=ON_PALE, zorder=4)
    ax.text(LEFT, -1.2, "block (1, 0): threadIdx.x →", fontsize=12.5, va="bottom")
    ax.text(LEFT - 1.5, T * SIZE / 2, "threadIdx.y ↓", fontsize=12.5, va="center", ha="right")
