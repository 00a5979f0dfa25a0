"""Lesson 04's charts: the tile that the sliders choose beside 16 × 16, and the scoreboard as bars."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.tiling.times import label, rungs
from course_lib.plots import bars, render, style
from course_lib.plots.picture import Picture
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
        ax.text(place * (1 + gap), 1.06, f"area {rows * columns:,}: multiply-adds\nedges {rows} + {columns} = {rows + columns}: loads\n"
                                         f"{sectors:.4f} sectors per multiply-add", fontsize=12, va="top", linespacing=1.4)
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


@style.styled
def score_bars() -> Picture:
    """Draw the scoreboard: what each kernel loads, and how fast it is."""
    rows = rungs()
    figure = style.figure_of(style.axes(width=9.4, height=3.0))
    figure.clear()
    left, right = figure.subplots(1, 2)
    bars({name: count for name, count, *_ in rows if count}, left, unit="load sectors per multiply-add", note="simulated")
    bars({name: 1e3 * seconds for name, _, seconds, _ in rows}, right, unit="ms at N = 4096", note=label())
    left.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=13)
    left.set_ylim(right.get_ylim())
    left.text(0, len(rows) - 1, " not counted", va="center", fontsize=13)
    right.set_yticks([])
    for ax in (left, right):
        ax.xaxis.label.set_fontsize(12)
    counts = [f"{count:.4f} sectors per multiply-add, " if count else "" for _, count, *_ in rows]
    alt = "; ".join(f"{name}: {count}{1e3 * seconds:.1f} ms" for (name, _, seconds, _), count in zip(rows, counts, strict=True))
    return render(figure, f"Bars of the scoreboard. {alt}.")
