"""The sets of the first cache: which lines of a block of B belong to the same one, and what that does to the count and to the time."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from course_lib.lessons.cpu.recorded import label, recording, row
from course_lib.lessons.cpu.variants import LARGE, PADDED, YOURS
from course_lib.model.cache_lines import CacheShape, fetches
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

FLOAT, LINE = 4, 64                     # bytes
ROWS = 64                               # of C and of A, for which the lines below were counted
BEST = YOURS | {"BI": 64, "BJ": 64, "BK": 64}
# Lines that ROWS rows of C fetch for N = 1024 in the first cache and its sets, by program and by the floats from row to row, of A, B and C
# alike. They depend on no machine; tests/lessons/test_cpu.py counts them again.
COUNTED: dict[tuple[int | str, int], int] = {
    ("ikj", LARGE): 4_202_496, ("ikj", PADDED): 4_202_496, (16, LARGE): 4_718_592, (64, LARGE): 4_325_376, (16, PADDED): 528_384,
    (64, PADDED): 194_523}
PROGRAMS: dict[int | str, tuple[str, dict[str, int] | None]] = {
    "ikj": ("gemm_ikj", None), 16: ("six_loops", YOURS), 64: ("six_loops", BEST)}


def first_cache() -> CacheShape:
    """Return the first cache of the recorded CPU, with its sets."""
    found, = recording().find(what="cache", level=1)
    return CacheShape(found["kib"] * 1024, ways=found["ways"])


def of_block(block: int, apart: int) -> list[int]:
    """Return the lines of a block of B, in the order of its rows; a row begins `apart` floats after the one before.

    >>> of_block(16, 1024)[:3]
    [0, 64, 128]
    """
    return [(FLOAT * apart * row + byte) // LINE for row in range(block) for byte in range(0, FLOAT * block, LINE)]


def still_there(block: int, apart: int, cache: CacheShape) -> int:
    """Return how many lines of a block of B are in the cache when they are read for the second time, one after another.

    >>> still_there(16, 1024, CacheShape(48 * 1024, ways=12)), still_there(16, 1040, CacheShape(48 * 1024, ways=12))
    (0, 16)
    """
    lines = of_block(block, apart)
    missed = fetches([1] * 2 * len(lines), lines + lines, cache)
    return len(lines) - int(missed[len(lines):].sum())


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
        found = Counter(line % cache.sets for line in of_block(block, apart))
        again = f"read again, {still_there(block, apart, cache)} of {block} are still there"
        _draw(ax, found, cache)
        ax.set_title(f"Rows of {apart} floats: {block} lines in {_many(len(found))}; {again}")
        said.append(f"rows that begin {apart} floats apart: {block} lines in {_many(len(found))}; {again}")
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
        why = f"{len(out)} of the {found.total()} lines have no room: each drives out the one that is needed next"
        ax.text(max(s for s, _ in out) + 2, ways + 1, why, va="center", fontsize=12)
    ax.set(xlim=(-0.5, last + 1.5), ylim=(-0.3, ways + 5), ylabel="lines of a set")
    ax.set_xticks([s + 0.5 for s in (*range(0, last, 16), last)], [str(s) for s in (*range(0, last, 16), last)])
    ax.set_yticks([0.5, ways - 0.5], ["1", str(ways)])
    ax.tick_params(length=0)


def _boxes(ax: Axes, corners: Iterable[tuple[float, float]], **look: Any) -> None:
    ax.add_collection(PatchCollection([Rectangle(corner, 1, 1) for corner in corners], **look))


def _many(count: int) -> str:
    return f"{count} set" + "s" * (count != 1)


def found_at(apart: int) -> list[tuple[str, float, float]]:
    """Return (loops, lines per multiply-add, seconds) of each program that was counted with rows so many floats apart."""
    found = []
    for program in (name for name, there in COUNTED if there == apart):
        kernel, parameters = PROGRAMS[program]
        name = "ikj" if program == "ikj" else f"{program} × {program}"
        found.append((name, COUNTED[program, apart] / (ROWS * LARGE**2), row(kernel, ld=apart, parameters=parameters)["median_s"]))
    return found


@style.styled
def rows_apart() -> Picture:
    """Draw the lines, counted with sets, beside the time: rows of 1024 floats above, of 1040 below."""
    groups = {apart: found_at(apart) for apart in (LARGE, PADDED)}
    ax = style.axes(width=8.6, height=1.3 + sum(0.55 + 0.42 * len(found) for found in groups.values()))
    figure = ax.get_figure(root=True)
    assert figure is not None
    ax.remove()
    panels = figure.subplots(len(groups), 2, sharex="col", squeeze=False, height_ratios=[len(found) for found in groups.values()])
    for (left, right), (apart, found) in zip(panels, groups.items(), strict=True):
        names, lines, seconds = zip(*found, strict=True)
        _bars(left, names, lines, [f"{value:.4f}" for value in lines])
        _bars(right, names, [1e3 * value for value in seconds], [f"{1e3 * value:.1f}" for value in seconds])
        right.set_yticks([])
        left.set_xticks([])                  # each bar has its value
        right.set_xticks([])
        left.set_title(f"Rows of {apart} floats: lines per multiply-add", loc="left", fontsize=12)
        right.set_title("time, ms", loc="left", fontsize=12)
    panels[-1][0].set_xlabel("counted with sets")
    panels[-1][1].set_xlabel(label().replace(", recorded", ",\nrecorded"))
    said = "; ".join(f"rows of {apart} floats: " + ", ".join(f"{name} {lines:.4f} and {1e3 * s:.1f} ms" for name, lines, s in found)
                     for apart, found in groups.items())
    return render(figure, f"Lines per multiply-add (counted with sets) and time of {LARGE} × {LARGE} matrices, {label()}: {said}.")


def _bars(ax: Axes, names: Sequence[str], values: Sequence[float], said: Sequence[str]) -> None:
    drawn = ax.barh(range(len(values)), values, color=[style.CYCLE[i] for i in range(len(values))], height=0.68)
    ax.bar_label(drawn, said, padding=5, fontsize=12)
    ax.set_yticks(range(len(values)), names, fontsize=12)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.margins(x=0.26)
