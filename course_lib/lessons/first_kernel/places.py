"""Where the numbers of a column of A lie in pieces of 32 floats, without and with unused floats after each row."""

from matplotlib.patches import Rectangle

from course_lib.lessons.first_kernel.times import N_TIMED, PADDING
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

ROWS, PIECE = 16, 32               # rows that a warp of *row from x* covers in blocks of 16 × 16; floats in a piece


def places_of(row_floats: int) -> list[int]:
    """Return the place in its piece of 32 floats of each of the first 16 numbers of column 0, when rows begin so many floats apart.

    >>> places_of(4100)[:4]
    [0, 4, 8, 12]
    """
    return [row * row_floats % PIECE for row in range(ROWS)]


@style.styled
def places() -> Picture:
    """Draw the piece of each row in which a warp's number of A lies, with rows 4096 and 4100 floats apart."""
    ax, said = style.axes(width=10.0, height=3.6), []
    for left, row_floats in ((0, N_TIMED), (PIECE + 10, N_TIMED + PADDING)):
        for row, place in enumerate(places_of(row_floats)):
            ax.add_patch(Rectangle((left, row), PIECE, 1, facecolor=style.PALE, edgecolor=style.GREY, linewidth=0.6))
            ax.add_patch(Rectangle((left + place, row), 1, 1, facecolor=style.VERMILION, edgecolor="none"))
        many = len(set(places_of(row_floats)))
        ax.text(left, -0.5, f"rows {row_floats} floats apart: {many} place{'s' if many > 1 else ''}", fontsize=12.5, va="bottom")
        ax.text(left, ROWS + 0.4, "0", fontsize=11, va="top")
        ax.text(left + PIECE / 2, ROWS + 0.4, f"place in a piece of {PIECE} floats", fontsize=11, va="top", ha="center")
        ax.text(left + PIECE, ROWS + 0.4, f"{PIECE - 1}", fontsize=11, va="top", ha="right")
        said.append(f"with rows {row_floats} floats apart they lie at {many} place{'s' if many > 1 else ''}")
    ax.text(-1, 0.5, "row 0", fontsize=11, va="center", ha="right")
    ax.text(-1, ROWS - 0.5, f"row {ROWS - 1}", fontsize=11, va="center", ha="right")
    ax.set(xlim=(-6, 2 * PIECE + 11), ylim=(ROWS + 2, -2))
    ax.axis("off")
    return render(ax, f"The {ROWS} numbers of a column of A that a warp wants, each in its row's piece of {PIECE} floats: "
                      f"{'; '.join(said)}.")
