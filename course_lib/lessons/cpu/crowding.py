"""The sets of the first cache: which lines of a block of B belong to the same one, and what that does to the count and to the time."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from course_lib.lessons.cpu.recorded import label, ms, recording, row
from course_lib.lessons.cpu.variants import LARGE, PADDED, YOURS
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

FLOAT = 4
ROWS = 64                               # of C and of A, for which the lines below were counted
BEST = YOURS | {"BI": 64, "BJ": 64, "BK": 64}
# Lines that ROWS rows of C fetch for N = 1024 in the first cache with its sets, by program and by the floats from row to row, of A, B and C
# alike. They depend
# on no machine; tests/lessons/test_cpu.py counts them again.
COUNTED = {("ikj", LARGE): 4_202_496, ("ikj", PADDED): 4_202_496, (16, LARGE): 4_718_592, (16, PADDED): 528_384,
           (64, PADDED): 194_523}
PROGRAMS = {"ikj": ("gemm_ikj", None), 16: ("six_loops", YOURS), 64: ("six_loops", BEST)}


def first_cache() -> CacheShape:
    """Return the first cache of the recorded CPU, with its sets."""
    found, = recording().find(what="cache", level=1)
    return CacheShape(found["kib"] * 1024, ways=found["ways"])


def wanted(block: int, apart: int, cache: CacheShape) -> Counter[int]:
    """Return how many lines of a block of B belong to each set; a row begins `apart` floats after the one before.

    >>> wanted(16, 1024, CacheShape(48 * 1024, ways=12))
    Counter({0: 16})
    """
    per_row = range(0, FLOAT * block, cache.line)
    return Counter((FLOAT * apart * row + byte) // cache.line % cache.sets for row in range(block) for byte in per_row)


@style.styled
def sets(block: int = 16) -> Picture:
    """Draw the sets of the first cache, and which lines of a block of B belong to them: rows of 1024 floats above, of 1040 below."""
    cache = first_cache()
    ax = style.axes(width=8.4, height=4.2)
    figure = ax.get_figure(root=True)
    assert figure is not None
    ax.remove()
    said = []
    for ax, apart in zip(figure.subplots(2, 1), (LARGE, PADDED), strict=True):
        found = wanted(block, apart, cache)
        _draw(ax, found, cache)
        ax.set_title(f"Rows {apart} floats apart: {block} lines belong to {_many(len(found))}")
        said.append(f"rows that begin {apart} floats apart: {block} lines in {_many(len(found))}")
    ax.set_xlabel("set")
    about = f"The {cache.sets} sets of the first cache, which hold {cache.ways} lines each, and the lines of a {block} × {block} block of B"
    return render(figure, f"{about}. {'; '.join(said)}.")


def _draw(ax: Axes, found: Counter[int], cache: CacheShape) -> None:
    assert cache.ways is not None                    # as recorded
    ways, last = cache.ways, cache.sets - 1
    out = [(s, p) for s, many in found.items() for p in range(ways, many)]
    ax.vlines(range(cache.sets + 1), 0, ways, color=style.GREY, linewidth=0.5)     # a path for each box is more than an SVG may have
    ax.hlines(range(ways + 1), 0, cache.sets, color=style.GREY, linewidth=0.5)
    _boxes(ax, [(s, p) for s, many in found.items() for p in range(min(many, ways))], facecolor=style.CYCLE[4], edgecolor=style.INK)
    _boxes(ax, out, facecolor=style.CYCLE[3], edgecolor=style.INK)
    if out:
        ax.text(max(s for s, _ in out) + 2, ways + 1, f"{len(out)} lines too many for this set", va="center", fontsize=12)
    ax.set(xlim=(-0.5, last + 1.5), ylim=(-0.3, ways + 5), ylabel="lines of a set")
    ax.set_xticks([s + 0.5 for s in (*range(0, last, 16), last)], [str(s) for s in (*range(0, last, 16), last)])
    ax.set_yticks([0.5, ways - 0.5], ["1", str(ways)])
    ax.tick_params(length=0)


def _boxes(ax: Axes, corners: Iterable[tuple[float, float]], **look: Any) -> None:
    ax.add_collection(PatchCollection([Rectangle(corner, 1, 1) for corner in corners], **look))


def _many(count: int) -> str:
    return f"{count} set" + "s" * (count != 1)


def rows_apart() -> Table:
    """Return a table of ikj and of blocks, with both distances of rows: lines counted with sets, and the recorded time."""
    plain = row("gemm_ikj")["median_s"]
    rows = []
    for apart in (LARGE, PADDED):
        for program in (name for name, there in COUNTED if there == apart):
            kernel, parameters = PROGRAMS[program]
            found = row(kernel, ld=apart, parameters=parameters)
            name = "ikj, without blocks" if program == "ikj" else f"blocks of {program} × {program}"
            fewer = COUNTED["ikj", LARGE] / COUNTED[program, apart]
            rows.append((apart, name, f"{fewer:.2f}", ms(found)[1], f"{plain / found['median_s']:.2f}"))
    header = ("a row begins after, floats", "loops", "times fewer lines than ikj", "time, ms", "times as fast as ikj")
    return Table(header, rows, f"{LARGE} × {LARGE} matrices; lines counted in a model of the first cache, times {label()}")
