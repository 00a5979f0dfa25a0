"""The sets of the first cache: what they do to the count of lines, and to the time."""

from course_lib.explorables.sets import FLOAT, first_cache
from course_lib.lessons.cpu.recorded import label, row
from course_lib.lessons.cpu.variants import LARGE, PADDED, YOURS
from course_lib.model.cache_lines import LineCounter
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

ROWS = 64                               # of C and of A, for which the lines below were counted
BEST = YOURS | {"BI": 64, "BJ": 64, "BK": 64}
# Lines that ROWS rows of C fetch for N = 1024 in the first cache and its sets, by program and by the floats from row to row, of A, B and C
# alike. They depend on no machine; tests/lessons/test_cpu.py counts them again.
COUNTED: dict[tuple[int | str, int], int] = {
    ("ikj", LARGE): 4_202_496, ("ikj", PADDED): 4_202_496, (16, LARGE): 4_718_592, (64, LARGE): 4_325_376, (16, PADDED): 528_384,
    (64, PADDED): 194_523}
PROGRAMS: dict[int | str, tuple[str, dict[str, int] | None]] = {
    "ikj": ("gemm_ikj", None), 16: ("six_loops", YOURS), 64: ("six_loops", BEST)}

SQUARES = (16, 32, 48, 64)              # rows and columns of the blocks that `found_again` reads


def read_twice(b: int, floats: int) -> tuple[int, int]:
    """Read the lines of a b × b block twice, with so many floats from one row to the next, a whole number of lines.

    Returns
    -------
    (int, int)
        How many lines the second reading finds in the first cache of the recorded CPU, in our model of it, and how many there are.

    >>> read_twice(16, 1536), read_twice(64, 1536)
    ((16, 16), (0, 256))
    """
    cache = first_cache()
    per_line = cache.line // FLOAT
    lines = [(block_row, column) for block_row in range(b) for column in range(0, b, per_line)]
    counter = LineCounter([(b, b, floats)] * 3, FLOAT, cache, room=2 * len(lines))
    for block_row, column in (*lines, *lines):
        counter.touch(0, block_row, column)
    missing = [missed for *_, missed, _ in counter.finish().trace[len(lines):]]
    return len(lines) - sum(missing), len(lines)


def found_again(floats: int) -> Table:
    """Return a table of square blocks, and how many of their lines are in the cache when a block is read for the second time.

    Raises
    ------
    ValueError
        When the rows are shorter than the largest block, or no whole number of lines.
    """
    if floats < max(SQUARES) or floats % (first_cache().line // FLOAT):
        raise ValueError(f"rows of {floats} floats: take a multiple of 16 that is at least {max(SQUARES)}")
    rows = [(f"{b} × {b}", str(lines), str(found)) for b in SQUARES for found, lines in [read_twice(b, floats)]]
    caption = f"rows of {floats} floats, counted in our model of the first cache"
    return Table(("block", "its lines", "found in the second reading"), rows, caption)


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
