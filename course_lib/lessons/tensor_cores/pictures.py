"""The tile of a warp: which fragments of A and of B meet in it, and which of them has how many wavefronts."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.kernels import get
from course_lib.lessons.tensor_cores.counts import MATRIX
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import RunResult

HIGH, WIDE, DEEP, GAP = 16, 8, 16, 5           # of an mma in bfloat16; between the matrices
MOST = 64                                      # rows and columns of the largest tile: one scale for all
CELL = 4                                       # of a number in an enlarged fragment
HUES = {"A": style.VERMILION, "B": style.BLUE, "C": "#BFE5D8"}


@style.styled
def draw_tile(WM: int, WN: int, labels: tuple[str, str], title: str, ax: Axes | None = None) -> Axes:
    """Draw 16 columns of A to the left of a warp's tile of C, 16 rows of B above it, and one cell for each `mma`; return the Axes.

    Parameters
    ----------
    labels
        What stands in each fragment of A, and in each of B: its shape, or how many wavefronts it has.
    """
    ax = style.axes(ax, width=5.9, height=3.5)
    rows, columns = range(0, WM, HIGH), range(0, WN, WIDE)
    beside = [f", {label} wavefronts each" if label.isdigit() else "" for label in labels]
    boxes = [("A", -GAP - DEEP, row, DEEP, HIGH) for row in rows] + [("B", column, -GAP - DEEP, WIDE, DEEP) for column in columns]
    boxes += [("C", column, row, WIDE, HIGH) for row in rows for column in columns]
    words, along = {"A": labels[0], "B": labels[1], "C": "mma"}, {"A": 0, "B": 90 if len(labels[1]) > 1 else 0, "C": 90}
    for name, x, y, wide, high in boxes:
        ax.add_patch(Rectangle((x, y), wide, high, facecolor=HUES[name], edgecolor=style.INK, linewidth=1.2))
        ax.text(x + wide / 2, y + high / 2, words[name], ha="center", va="center", fontsize=10, rotation=along[name],
                color=style.text_on(HUES[name]))
    ax.text(-GAP - DEEP, WM + 2, f"{len(rows)} fragments of A{beside[0]}", va="top", fontsize=12)
    ax.text(WN + 3, -GAP - DEEP / 2, f"{len(columns)} fragments of B{beside[1]}".replace(", ", ",\n"), va="center", fontsize=12)
    ax.text(WN + 3, WM / 2, f"C: one mma for\neach pair, {len(rows) * len(columns)} in all", va="center", fontsize=12)
    ax.set(xlim=(-GAP - DEEP - 1, MOST + 62), ylim=(MOST + 10, -GAP - DEEP - 1), aspect="equal")
    ax.set_title(title, fontsize=13)
    ax.axis("off")
    return ax


def _numbers(ax: Axes, name: str, left: int, top: int, size: tuple[int, int], words: str) -> None:
    """Draw one fragment enlarged: a cell for each of its numbers."""
    high, wide = CELL * size[0], CELL * size[1]
    ax.add_patch(Rectangle((left, top), wide, high, facecolor=HUES[name]))
    ax.hlines(range(top + CELL, top + high, CELL), left, left + wide, color="white", linewidth=0.8)
    ax.vlines(range(left + CELL, left + wide, CELL), top, top + high, color="white", linewidth=0.8)
    ax.text(left, top - 2, words, va="bottom", fontsize=12, linespacing=1.3)


@style.styled
def draw_work(WM: int, WN: int) -> Axes:
    """Draw the tile of a warp, and beside it every number of one fragment of A and of one of B."""
    ax = draw_tile(WM, WN, ("16 × 16", "16 × 8"), "", style.axes(width=9.2, height=4.2))
    left, top = WN + 45, 0
    _numbers(ax, "A", left, top, (HIGH, DEEP), f"one fragment of A:\n{HIGH} × {DEEP} numbers")
    _numbers(ax, "B", left + CELL * DEEP + 9, top, (DEEP, WIDE), f"one fragment of B:\n{DEEP} × {WIDE} numbers")
    ax.set(xlim=(-GAP - DEEP - 1, left + CELL * (DEEP + WIDE) + 18), ylim=(MOST + 7, -GAP - DEEP - 4))
    return ax


def work_of_a_warp(kernel: str = "sbgemm_mma") -> Picture:
    """Draw what a warp of the kernel does for 16 columns of A."""
    values = get(kernel).check()
    WM, WN = values["WM"], values["WN"]
    return render(draw_work(WM, WN), f"For 16 columns of A a warp needs {WM // HIGH} fragments of A, 16 × 16 numbers each, below one "
                                     f"another, and {WN // WIDE} of B, 16 × 8 each, side by side. Each pair of them makes one mma: "
                                     f"{WM // HIGH * (WN // WIDE)} in all. Beside them one fragment of A and one of B are drawn with a "
                                     "cell for each of their numbers.")


def tile_of_a_warp(result: RunResult) -> tuple[Axes, str]:
    """Draw the tile of a warp of a counted launch, each fragment with its wavefronts."""
    WM, WN = result.parameters["WM"], result.parameters["WN"]
    each = result.count("wavefronts") / (result.counters or {})[MATRIX]
    pairs = WM // HIGH * (WN // WIDE)
    said = f"{pairs * each:g} wavefronts of loads for {pairs} mma: {each:g} for each"
    ax = draw_tile(WM, WN, (str(DEEP * HIGH // 64), str(DEEP * WIDE // 64)), said)
    return ax, f"A warp's tile of {WM} × {WN}: {WM // HIGH} fragments of A with 4 wavefronts each, {WN // WIDE} of B with 2 each. {said}."
