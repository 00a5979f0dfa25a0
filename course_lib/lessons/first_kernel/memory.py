"""Where the numbers lie that one request of *row from x* asks A for: with rows 4096 floats apart, and with rows 4104 apart."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.first_kernel.times import FLOATS, LINE, N_TIMED, PADDING, milliseconds, positions
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

ROWS, STEP, SHOWN, GAP, HIGH = 16, 3, 128, 20, 2.6    # rows of A; the k on show; floats drawn of each row; between both halves; of a row
ON_PALE, TOUCHED = "#222222", "#BFDDF0"


@style.styled
def in_memory() -> Picture:
    """Draw memory in rows of 4096 floats: the 16 numbers, the sectors around them, and what the kernel takes, for both distances."""
    ax = style.axes(width=10.0, height=4.6)
    for left, padding in ((0, 0), (SHOWN + GAP, PADDING)):
        draw_memory(ax, left, padding)
    ax.set(xlim=(-1, 2 * SHOWN + GAP + 1), ylim=(ROWS * HIGH + 8, -12))
    ax.axis("off")
    return render(ax, described())


def draw_memory(ax: Axes, left: int, padding: int) -> None:
    """Draw the beginning of 16 rows of memory, and in each the number that belongs to a row of A."""
    for row in range(ROWS):
        number, y = row * padding + STEP, row * HIGH
        sector = number // FLOATS * FLOATS
        ax.add_patch(Rectangle((left + sector, y), FLOATS, HIGH, facecolor=TOUCHED, edgecolor="none"))
        ax.add_patch(Rectangle((left + number, y), 1, HIGH, facecolor=style.BLUE, edgecolor="none"))
        ax.plot([left, left + SHOWN], [y, y], color=style.GREY, linewidth=0.5)
    for edge in range(0, SHOWN + 1, FLOATS):
        ax.plot([left + edge] * 2, [0, ROWS * HIGH], color=style.GREY, linewidth=0.7)
    for edge in range(0, SHOWN + 1, LINE):
        ax.plot([left + edge] * 2, [-0.5, ROWS * HIGH + 0.5], color=style.INK, linewidth=2.4)
    ax.text(left, -7.5, f"the next row of A begins {N_TIMED + padding} floats further on", fontsize=12, va="bottom")
    ax.text(left, -1, f"each row: {N_TIMED} floats of memory, of which you see the first {SHOWN}\n"
                      "bar: a number asked for, in its sector; lines: from thick to thick", fontsize=9.5, va="bottom")
    ax.text(left, ROWS * HIGH + 2, f"16 sectors, at {placed(padding)}: {taken(padding)} ms", fontsize=14, va="top", weight="bold")


def taken(padding: int) -> str:
    """Return the recorded milliseconds of *row from x* with so many unused floats after each row of A."""
    return milliseconds("swapped", padding)


def placed(padding: int) -> str:
    """Say at how many positions in a line the numbers lie.

    >>> placed(0), placed(8)
    ('1 position in a line', '4 positions in a line')
    """
    many = positions(padding)
    return f"{many} position{'s' * (many > 1)} in a line"


def described() -> str:
    """Say in words what the picture shows."""
    return (f"Memory in rows of {N_TIMED} floats, one below the other, and in them the 16 numbers of A that a request of row from x "
            f"asks for. With rows {N_TIMED} floats apart, each number stands exactly below the one before, in 16 sectors, at {placed(0)}: "
            f"{taken(0)} ms. With rows {N_TIMED + PADDING} floats apart, each stands {PADDING} floats further to the right "
            f"than the one before, again in 16 sectors, at {placed(PADDING)}: {taken(PADDING)} ms.")
