"""The sets of the first cache: which lines of a block of B belong to the same one, and what that does to the count and to the time."""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.cpu.recorded import label, recording, row
from course_lib.lessons.cpu.variants import LARGE, PADDED, YOURS
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

FLOAT = 4                               # bytes
BLOCK = 16                              # rows of the block whose lines are followed, and floats of one: a line
MISS, HIT = style.VERMILION, style.GREEN
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


def read_in_turn(rows: Iterable[int], apart: int, cache: CacheShape) -> tuple[dict[int, list[int]], list[bool]]:
    """Read the first line of each of these rows of B in turn; a row begins `apart` floats after the one before.

    Returns
    -------
    tuple
        The rows whose lines each set then holds, place by place; and for each read whether its line was still there.

    >>> read_in_turn([0, 1, 0], 1024, CacheShape(48 * 1024, ways=12))
    ({0: [0, 1]}, [False, False, True])
    """
    assert cache.ways is not None
    sets: dict[int, list[int]] = {}
    latest: dict[int, int] = {}
    found = []
    for time, number in enumerate(rows):
        held = sets.setdefault(FLOAT * apart * number // cache.line % cache.sets, [])
        found.append(number in held)
        if number not in held and len(held) < cache.ways:
            held.append(number)
        elif number not in held:
            held[held.index(min(held, key=latest.__getitem__))] = number     # it takes the place of the line that was used longest ago
        latest[number] = time
    return sets, found


def still_there(apart: int) -> int:
    """Return how many lines of a 16 × 16 block of B are still in the first cache when they are read again, one after another.

    >>> still_there(1024), still_there(1040)
    (0, 16)
    """
    return sum(read_in_turn([*range(BLOCK), *range(BLOCK)], apart, first_cache())[1][BLOCK:])


@style.styled
def sets() -> Picture:
    """Draw what the first cache holds while a block of B is read: one set for rows of 1024 floats, and 16 sets for rows of 1040."""
    cache = first_cache()
    assert cache.ways is not None                    # as recorded
    ax = style.axes(width=8.4, height=4.3)
    moments = (("rows 0 to 11 are read", LARGE, 0, cache.ways), ("then rows 12 to 15", LARGE, cache.ways, BLOCK),
               ("then row 0 again", LARGE, BLOCK, BLOCK + 1), ("rows 0 to 15 are read", PADDED, 0, BLOCK),
               ("then row 0 again", PADDED, BLOCK, BLOCK + 1))
    heights, said = (0.0, -1.3, -2.6, -5.6, -6.9), []
    for (moment, apart, first, last), y in zip(moments, heights, strict=True):
        held, found = read_in_turn([*range(BLOCK), 0][:last], apart, cache)
        shown = [number for which in sorted(held) for number in held[which]]
        read = {number % BLOCK: hit for number, hit in zip(range(first, last), found[first:], strict=True)}
        for x, number in enumerate(shown):
            _line(ax, x, y, number, hit=read.get(number))
        ax.text(-0.4, y + 0.5, moment, ha="right", va="center", fontsize=12)
        said.append(f"rows of {apart} floats, {moment}: {sum(read.values())} of {len(read)} still there, and held are {shown}")
    ax.text(0, heights[0] + 1.9, f"Rows of {LARGE} floats: set 0, which holds {cache.ways} lines", weight="bold", fontsize=12)
    ax.text(0, heights[3] + 1.9, f"Rows of {PADDED} floats: sets 0 to {BLOCK - 1}, one line in each", weight="bold", fontsize=12)
    for x, (colour, meaning) in enumerate(((MISS, "just fetched: it was not there"), (HIT, "just found: it was still there"))):
        ax.add_patch(Rectangle((9 * x - 5, -9), 1, 1, facecolor=colour, edgecolor=style.INK))
        ax.text(9 * x - 3.7, -8.5, meaning, va="center", fontsize=12)
    ax.set(xlim=(-7.2, BLOCK + 0.3), ylim=(-9.3, heights[0] + 2.9))
    ax.axis("off")
    return render(ax, f"Which rows' lines of a {BLOCK} × {BLOCK} block of B the first cache holds. {'; '.join(said)}.")


def _line(ax: Axes, x: float, y: float, number: int, *, hit: bool | None) -> None:
    """Draw the line of a row: just fetched, just found, or left alone (None)."""
    colour = style.PALE if hit is None else HIT if hit else MISS
    ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=style.INK))
    ax.text(x + 0.5, y + 0.47, str(number), ha="center", va="center", fontsize=12, color=style.text_on(colour))


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
    """Draw the lines, counted with sets, beside the time: for each program rows of 1024 floats and of 1040, one below the other."""
    groups = {apart: found_at(apart) for apart in (LARGE, PADDED)}
    ax = style.axes(width=8.6, height=3.7)
    figure = ax.get_figure(root=True)
    assert figure is not None
    ax.remove()
    left, right = figure.subplots(1, 2, sharey=True)
    for which, (apart, found) in enumerate(groups.items()):
        at = [i + 0.4 * which - 0.2 for i in range(len(found))]
        for ax, values, digits in ((left, [lines for _, lines, _ in found], 4), (right, [1e3 * s for *_, s in found], 1)):
            drawn = ax.barh(at, values, height=0.36, color=(style.VERMILION, style.BLUE)[which], label=f"rows of {apart} floats")
            ax.bar_label(drawn, [f"{value:.{digits}f}" for value in values], padding=5, fontsize=12)
    left.set_yticks(range(len(groups[LARGE])), [name for name, *_ in groups[LARGE]], fontsize=12)
    left.invert_yaxis()                          # of both
    timed = label().replace(", recorded", ",\nrecorded")
    for ax, title, below in ((left, "lines per multiply-add", "counted with sets"), (right, "time, ms", timed)):
        ax.set_title(title, loc="left", fontsize=12)
        ax.set_xlabel(below)
        ax.set_xticks([])                        # each bar has its value
        ax.tick_params(axis="y", length=0)
        ax.margins(x=0.26)
    figure.legend(handles=left.containers, loc="outside upper center", ncols=2, fontsize=12, frameon=False)
    said = "; ".join(f"rows of {apart} floats: " + ", ".join(f"{name} {lines:.4f} and {1e3 * s:.1f} ms" for name, lines, s in found)
                     for apart, found in groups.items())
    return render(figure, f"Lines per multiply-add (counted with sets) and time of {LARGE} × {LARGE} matrices, {label()}: {said}.")
