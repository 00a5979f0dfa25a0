"""Lesson 04's chart: the tile that the sliders choose, beside one of 16 × 16."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.widgets.compute import evaluate

REFERENCE = 16


@style.styled
def tile_and_loads(result: RunResult) -> tuple[Axes, str]:
    """Draw a tile of C beside one of 16 × 16 on one scale, with what it loads along its edges, and the sectors per multiply-add of both.

    As a picture of `live` does, it returns the drawing, and what it shows in words.
    """
    BM, BN, N = result.parameters["BM"], result.parameters["BN"], result.N
    now = result.count("sectors") / (result.M * N * result.K)
    ax = style.axes(width=6.6, height=3.9)
    room, gap = max(REFERENCE, BM, BN), 0.45
    for place, rows, columns, name, sectors in ((0, REFERENCE, REFERENCE, "to compare", _sixteen(N)), (1, BM, BN, "now", now)):
        _tile(ax, place * (1 + gap), rows, columns, room)
        ax.text(place * (1 + gap), -0.07, f"{rows} × {columns}, {name}", fontsize=14, va="bottom", weight="bold")
        area, edges = rows * columns, rows + columns
        ax.text(place * (1 + gap), 1.06, f"area {area:,}: multiply-adds\nedges {rows} of A + {columns} of B: {edges} loads\n"
                                         f"{edges} loads / {area:,} / 8 = {sectors:.4f}\n"
                                         "sectors per multiply-add", fontsize=12, va="top", linespacing=1.4)
    ax.set(xlim=(-0.04, 2 * (1 + gap)), ylim=(1.5, -0.24), aspect="equal")
    ax.axis("off")
    return ax, (f"Tiles of C to scale. {REFERENCE} × {REFERENCE}: {_words(REFERENCE, REFERENCE)}. Now {BM} × {BN}: {_words(BM, BN)}. "
                f"Load sectors per multiply-add at N = {N}: tiles of 16 × 16 {_sixteen(N):.4f}, tiles of {BM} × {BN} {now:.4f}.")


def _sixteen(N: int) -> float:
    return evaluate("sgemm_tiled", N, {"BM": 16, "BN": 16, "BK": 16}, backend="sim").count("sectors") / N**3


def _words(BM: int, BN: int) -> str:
    return f"area {BM * BN:,} multiply-adds for each k, edges {BM} + {BN} = {BM + BN} loads"


def _tile(ax: Axes, left: float, BM: int, BN: int, room: int) -> None:
    """Draw one tile in a square whose side is `room` elements: its area is the work, its edges are loaded of A and of B."""
    wide, high = BN / room, BM / room
    ax.add_patch(Rectangle((left, 0), wide, high, facecolor=style.PALE, edgecolor=style.GREY, linewidth=1))
    ax.vlines([left + i / room for i in range(1, BN)], 0, high, color=style.GREY, linewidth=0.5)
    ax.hlines([i / room for i in range(1, BM)], left, left + wide, color=style.GREY, linewidth=0.5)
    ax.plot([left, left], [0, high], color=style.BLUE, linewidth=7, solid_capstyle="butt")
    ax.plot([left, left + wide], [0, 0], color=style.VERMILION, linewidth=7, solid_capstyle="butt")
