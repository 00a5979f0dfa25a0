"""How a matrix lies in memory: row after row, cut into cache lines."""

from matplotlib.patches import Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

ROWS, COLUMNS, LINE = 4, 8, 4                 # of the drawn matrix; numbers of a line, fewer than the 16 of a real one
ROW, COLUMN = 1, 2                            # which are walked along
ALT = ("Above, a matrix B with 4 rows of 8 numbers. Below, the same numbers as they lie in memory: one row behind the other, in one strip, "
       "which is cut into lines of 4 numbers (a real line has 16). A row of B is two lines, side by side in memory. A column of B is four "
       "numbers, each of them on another line.")


def _cells(ax, x, y, cells, colour):
    for column, row in cells:
        ax.add_patch(Rectangle((x + column, y + row), 1, 1, facecolor=colour, edgecolor="none"))


@style.styled
def layout() -> Picture:
    """Draw a matrix, and below it the strip of memory in which it lies, with one row and one column marked in both."""
    ax = style.axes(width=8.6, height=2.75)
    row = [(column, ROW) for column in range(COLUMNS)]
    column = [(COLUMN, row) for row in range(ROWS)]
    left = (ROWS * COLUMNS - COLUMNS) / 2 * 0.62
    for cells, colour in ((row, style.SKY), (column, style.ORANGE)):
        _cells(ax, left, 0, cells, colour)
        _cells(ax, 0, 7.2, [(r * COLUMNS + c, 0) for c, r in cells], colour)
    for r in range(ROWS):
        for c in range(COLUMNS):
            ax.add_patch(Rectangle((left + c, r), 1, 1, fill=False, edgecolor=style.GREY, linewidth=0.8))
            ax.add_patch(Rectangle((r * COLUMNS + c, 7.2), 1, 1, fill=False, edgecolor=style.GREY, linewidth=0.8))
    for part in range(ROWS * COLUMNS // LINE):
        ax.add_patch(Rectangle((part * LINE, 7.2), LINE, 1, fill=False, edgecolor=style.INK, linewidth=2))
    ax.text(left - 0.4, ROWS / 2, "B", fontsize=15, weight="bold", ha="right", va="center")
    ax.text(left + COLUMNS + 0.5, ROW + 0.5, "a row: B(k, j), B(k, j + 1), …", fontsize=11, va="center")
    ax.text(left + COLUMN + 0.5, ROWS + 0.25, "a column: B(k, j), B(k + 1, j), …", fontsize=11, va="top", ha="center")
    said = f"in memory, one row behind the other; thick frames are lines, drawn with {LINE} numbers; a real one has 16"
    ax.text(0, 6.9, said, fontsize=11, va="bottom")
    for r in range(ROWS):
        ax.text((r + 0.5) * COLUMNS, 8.5, f"row {r}", fontsize=10.5, va="top", ha="center")
    ax.set(xlim=(-1.4, ROWS * COLUMNS + 0.2), ylim=(9.6, -0.2), aspect="equal")
    ax.axis("off")
    return render(ax, ALT)
