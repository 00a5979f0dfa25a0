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
    """Draw a tile of C to scale beside one of 16 × 16, with what it loads along its edges, and the sectors per multiply-add of both.

    As a picture of `live` does, it returns the drawing, and what it shows in words.
    """
    BM, BN, N = result.parameters["BM"], result.parameters["BN"], result.N
    now = result.count("sectors") / (result.M * N * result.K)
    naive = evaluate("sgemm_naive", N, {"bx": 16, "by": 16}, backend="sim").count("sectors") / N**3
    values = {"naive": naive, "16 × 16": _sixteen(N), f"{BM} × {BN}, now": now, "formula, now": (1 / BM + 1 / BN) / 8}
    figure = style.figure_of(style.axes(width=5.9, height=4.1))
    figure.clear()
    tiles, ax = figure.subplots(2, 1, height_ratios=(1.25, 1))
    bars(values, ax, unit=f"load sectors per multiply-add, {result.counters_label}")
    for left, rows, columns, name in ((0, REFERENCE, REFERENCE, "to compare"), (120, BM, BN, "now")):
        _tile(tiles, left, rows, columns, name)
    tiles.set(xlim=(-8, 225), ylim=(88, -14), aspect="equal")
    tiles.axis("off")
    return ax, (f"Tiles of C to scale. {REFERENCE} × {REFERENCE}: {_words(REFERENCE, REFERENCE)}. Now {BM} × {BN}: {_words(BM, BN)}. "
                f"Load sectors per multiply-add at N = {N}: naive kernel {naive:.4f}, tiles of 16 × 16 {_sixteen(N):.4f}, "
                f"tiles of {BM} × {BN} {now:.4f}, formula {values['formula, now']:.4f}.")


def _sixteen(N: int) -> float:
    return evaluate("sgemm_tiled", N, {"BM": 16, "BN": 16, "BK": 16}, backend="sim").count("sectors") / N**3


def _words(BM: int, BN: int) -> str:
    return f"area {BM * BN:,} multiply-adds for each k, edges {BM} + {BN} = {BM + BN} loads"


def _tile(ax, left, BM, BN, name):
    """Draw one tile: its area is the work, its left edge what is loaded of A, its upper edge what is loaded of B."""
    ax.add_patch(Rectangle((left, 0), BN, BM, facecolor=style.PALE, edgecolor=style.GREY, linewidth=1))
    ax.plot([left, left], [0, BM], color=style.BLUE, linewidth=5, solid_capstyle="butt")
    ax.plot([left, left + BN], [0, 0], color=style.VERMILION, linewidth=5, solid_capstyle="butt")
    ax.text(left, -4, f"{BM} × {BN}, {name}", fontsize=13, va="bottom", weight="bold")
    ax.text(left, BM + 3, f"area {BM * BN:,}: multiply-adds\nedges {BM} + {BN} = {BM + BN}: loads", fontsize=11, va="top")


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
