"""Where the numbers lie that one request of *row from x* asks A for: with rows 4096 floats apart, and with rows 4104 apart."""

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.first_kernel.times import FLOATS, LINE, N_TIMED, PADDING, milliseconds, positions
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

ROWS, STEP, SHOWN, GAP, HIGH = 16, 3, 128, 22, 2.6    # rows of A; the k on show; floats drawn of each row; between both halves; of a row
TOUCHED = "#BFDDF0"


@style.styled
def in_memory() -> Picture:
    """Draw memory in strips of 4096 floats: the 16 numbers, the sectors around them, and what the kernel takes, for both distances."""
    ax = style.axes(width=10.0, height=5.2)
    for left, padding in ((0, 0), (SHOWN + GAP, PADDING)):
        draw_memory(ax, left, padding)
    ax.set(xlim=(-1, 2 * SHOWN + GAP + 1), ylim=(ROWS * HIGH + 24, -9))
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
    ax.text(left, -4.5, f"rows of A begin {N_TIMED + padding} floats apart", fontsize=14, weight="bold", va="bottom")
    ax.text(left, -1, f"each strip: {N_TIMED} floats of memory, of which you see {SHOWN}", fontsize=11, va="bottom")
    draw_folded(ax, left, padding)
    ax.text(left, ROWS * HIGH + 18, f"16 sectors, {placed(padding)}: {taken(padding)} ms", fontsize=12.5, va="top", weight="bold")


def draw_folded(ax: Axes, left: int, padding: int) -> None:
    """Draw the 16 lines as one, and in each box how many of the 16 numbers have this position."""
    top, wide, tall = ROWS * HIGH + 11, SHOWN / LINE, 4
    ax.text(left, top - 4.5, "the 16 lines on top of one another: numbers at each position", fontsize=11, va="bottom")
    for at, many in folded(padding).items():
        ax.add_patch(Rectangle((left + at * wide, top), wide, tall, facecolor=style.BLUE if many else "none", edgecolor=style.GREY))
        if many:
            ax.text(left + (at + 0.5) * wide, top - 0.6, str(many), ha="center", va="bottom", color=style.BLUE, fontsize=12, weight="bold")


def folded(padding: int) -> Counter[int]:
    """Return how many of the 16 numbers have each of the 32 positions in their lines.

    >>> max(folded(0).values()), max(folded(8).values())
    (16, 4)
    """
    many = Counter(dict.fromkeys(range(LINE), 0))
    many.update((row * (N_TIMED + padding) + STEP) % LINE for row in range(ROWS))
    return many


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
    one, few = (f"at {placed(padding)}, {max(folded(padding).values())} at each: {taken(padding)} ms." for padding in (0, PADDING))
    return (f"Memory in strips of {N_TIMED} floats, one below the other, and in them the 16 numbers of A that a request of row from x "
            f"asks for. With rows {N_TIMED} floats apart, each number stands exactly below the one before, in 16 sectors, {one} "
            f"With rows {N_TIMED + PADDING} floats apart, each stands {PADDING} floats further to the right than the one before, again in "
            f"16 sectors, {few}")
