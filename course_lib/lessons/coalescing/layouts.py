"""Memory cut into sectors, drawn: two layouts of the same pixels, and the pieces that the L2 fetches."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

FLOATS, SECTORS, GAP = 8, 3, 0.35       # floats per sector; sectors of a layout; between two sectors that are drawn, in floats
HUES = {"r": "#C62828", "g": style.GREEN, "b": style.BLUE}   # a true red: orange means touched here
ALT = ("Two rows of three sectors, each sector with eight floats. Above each row stand eight lanes, with an arrow from each to the red "
       "value that it loads. Above, one array of pixels: red, green, blue, red and so on; the red values lie in three sectors, and so do "
       "the green and the blue ones. Below, an array for each colour: the red values fill the first sector.")
REACH, PER_PIECE = 64, 16               # floats of memory that are drawn for each stride; in a piece of 64 bytes
PIECES = ("Two rows of memory, 256 bytes each: eight sectors, in four pieces of 64 bytes. Above, stride 8: a wanted float in each of the "
          "eight sectors, two in each piece. Below, stride 16: a wanted float in every second sector, one in each piece. The second half "
          "of each piece is fetched, too, though no lane asks for it.")


def place(number: int) -> float:
    """Return where a float is drawn: its number, and a gap for each sector before it."""
    return number + GAP * (number // FLOATS)


def frame(ax: Axes, first: int, count: int, y: float, **look: Any) -> None:
    """Draw a frame around neighbouring floats."""
    options: dict[str, Any] = {"fill": False, "edgecolor": style.INK, "linewidth": 2.4} | look
    width = place(first + count - 1) + 1 - place(first)
    ax.add_patch(Rectangle((place(first), y), width, 1, **options))


@style.styled
def layouts() -> Picture:
    """Draw pixels as one array of structures and as three arrays, and the lanes that load their red values."""
    ax = style.axes(width=9.2, height=4.6)
    rows = (("one array of pixels", [("rgb"[i % 3], i // 3) for i in range(FLOATS * SECTORS)]),
            ("an array for each colour", [("rgb"[i // FLOATS], i % FLOATS) for i in range(FLOATS * SECTORS)]))
    for row, (name, values) in enumerate(rows):
        y = 6.0 * row
        touched = {i // FLOATS for i, (colour, _) in enumerate(values) if colour == "r"}
        ax.text(0, y - 3.4, f"{name}: {len(touched)} sector{'s' * (len(touched) > 1)} touched", fontsize=14, weight="bold", va="bottom")
        for i, (colour, pixel) in enumerate(values):
            ax.add_patch(Rectangle((place(i), y), 1, 1, facecolor=HUES[colour], edgecolor=style.GREY, linewidth=1))
            ax.text(place(i) + 0.5, y + 0.5, f"{colour}{pixel}", fontsize=12, ha="center", va="center", weight="bold",
                    color=style.text_on(HUES[colour]))
            if colour == "r":
                _lane(ax, pixel, place(i) + 0.5, y)
        ax.text(place(FLOATS) - 0.3, y - 2.5, "lanes", fontsize=12, ha="right", va="center")
        for sector in range(SECTORS):
            frame(ax, FLOATS * sector, FLOATS, y, **({} if sector in touched else {"linewidth": 1, "edgecolor": style.GREY}))
    ax.set(xlim=(-0.1, FLOATS * SECTORS + 0.8), ylim=(7.2, -4.4))
    ax.axis("off")
    return render(ax, ALT)


def _lane(ax: Axes, lane: int, x: float, y: float) -> None:
    """Draw one of the eight lanes above the middle of a row, and its arrow to the float at x."""
    left = place(FLOATS) + lane
    ax.add_patch(Rectangle((left, y - 3.0), 1, 1, facecolor=style.PALE, edgecolor=style.INK, linewidth=1))
    ax.text(left + 0.5, y - 2.5, str(lane), fontsize=12, ha="center", va="center")
    ax.annotate("", (x, y - 0.05), (left + 0.5, y - 2.0), arrowprops={"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.4})


@style.styled
def pieces() -> Picture:
    """Draw which floats the lanes want at strides 8 and 16, their sectors, and the pieces of 64 bytes in which those come."""
    ax = style.axes(width=9.2, height=3.2)
    for row, stride in enumerate((FLOATS, 2 * FLOATS)):
        y = 2.5 * row
        each = PER_PIECE // stride
        ax.text(0, y - 0.3, f"stride {stride}: each piece brings {'two floats' if each == 2 else 'one float'} that lanes want",
                fontsize=14, weight="bold", va="bottom")
        for first in range(0, REACH, FLOATS):
            wanted = first % stride == 0
            frame(ax, first, FLOATS, y, fill=True, facecolor=style.ORANGE if wanted else "none", edgecolor=style.GREY, linewidth=1)
            if not wanted:                                       # grey is padding elsewhere in the lesson
                frame(ax, first, FLOATS, y, hatch="///", edgecolor=style.ORANGE, linewidth=0)
            else:
                frame(ax, first, 1, y, fill=True, facecolor=style.BLUE, linewidth=1)
        for first in range(0, REACH, PER_PIECE):
            frame(ax, first, PER_PIECE, y)
    ax.text(0, 4.3, "box: a sector of 32 bytes     thick frame: a piece of 64 bytes", fontsize=12, va="center")
    ax.text(0, 5.0, "blue: a float that a lane wants     orange: its sector     hatched: comes with it, unasked",
            fontsize=12, va="center")
    ax.set(xlim=(-0.3, place(REACH) + 0.3), ylim=(5.4, -1.2))
    ax.axis("off")
    return render(ax, PIECES)
