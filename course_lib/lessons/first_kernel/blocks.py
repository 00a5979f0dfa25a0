"""Both first kernels with blocks of nine shapes: recorded times over the sectors and the lines that a warp touches."""

from collections.abc import Callable

from course_lib import data
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, lines_per_step, plural, sectors_per_step, unbroken
from course_lib.lessons.first_kernel.times import N_TIMED
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

RECORDING = "shapes"
THREADS = 256                      # of each block in this recording
ODD = 2047                         # rows do not begin a whole number of lines apart
COUNTS: dict[str, Callable[..., int]] = {"sectors": sectors_per_step, "lines": lines_per_step}
MARKS = {"naive": (style.BLUE, "o", 11), "swapped": (style.ORANGE, "s", 5)}


def seconds_by_block(kernel: str, N: int) -> dict[tuple[int, int], float]:
    """Return the recorded seconds of the naive or the swapped kernel by its block (bx, by).

    >>> round(1e3 * seconds_by_block("naive", 2048)[32, 8], 2)
    2.59
    """
    return {(r.parameters["bx"], r.parameters["by"]): r.seconds for r in data.load(RECORDING).find(KERNELS[kernel], N)}


def by_count(unit: str) -> dict[str, list[tuple[int, float]]]:
    """Return (sectors or lines per step, recorded milliseconds at N = 4096) of each kernel's nine blocks."""
    count = COUNTS[unit]
    return {kernel: [(count(kernel, *block), 1e3 * taken) for block, taken in seconds_by_block(kernel, N_TIMED).items()]
            for kernel in KERNELS}


def warp_times() -> Table:
    """Return a table of the recorded times of both kernels in the blocks that give their warps the same six shapes."""
    rows = []
    for high in (1, 2, 4, 8, 16, 32):
        wide, row = 32 // high, []
        for kernel, bx in (("naive", wide), ("swapped", high)):
            block = bx, THREADS // bx
            row += [unbroken(f"{bx} × {block[1]}"), f"{1e3 * seconds_by_block(kernel, N_TIMED)[block]:.1f}"]
        rows.append((unbroken(f"{plural(high, 'row')}, {plural(wide, 'column')}"), *row))
    header = ("a warp covers, of C", *(what for said in SAID.values() for what in (f"{said}: block", "ms")))
    found = data.load(RECORDING)
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, {found.label}, {data.spread(found.find(N=N_TIMED))}")


def per_line() -> list[float]:
    """Return the milliseconds per line and step of all blocks whose warps touch at least three lines."""
    return sorted(taken / lines for found in by_count("lines").values() for lines, taken in found if lines > 2)


@style.styled
def sectors_and_lines() -> Picture:
    """Draw the recorded times of both kernels in nine blocks over sectors per step, and over lines per step."""
    only = style.axes(width=10.0, height=4.4)
    figure = only.figure
    only.remove()
    panels = figure.subplots(1, 2, sharey=True)
    for ax, unit in zip(panels, COUNTS, strict=True):
        for kernel, found in by_count(unit).items():
            colour, marker, size = MARKS[kernel]
            ax.plot(*zip(*found, strict=True), linestyle="none", marker=marker, markersize=size, color=colour, label=SAID[kernel])
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        ticks = sorted({count for found in by_count(unit).values() for count, _ in found})
        ax.set_xticks(ticks, [str(count) for count in ticks])
        ax.minorticks_off()
        ax.set(xlabel=f"{unit} per step")
    slope = sum(per_line()) / len(per_line())
    panels[1].plot((2, 33), (2 * slope, 33 * slope), color=style.GREY, linestyle="--", linewidth=1.5, zorder=0,
                   label=f"{slope:.1f} ms per line")
    panels[0].set_yticks((20, 40, 80, 160, 320), ("20", "40", "80", "160", "320"))
    panels[0].set(ylim=(14, 340), ylabel=f"ms, N = {N_TIMED}")
    panels[1].annotate("two lines", (2, 30), (-6, 8), textcoords="offset points", fontsize=12)
    panels[1].legend(loc="lower right")
    figure.supxlabel(data.load(RECORDING).label, fontsize=11)
    return render(panels[0], said_in_words())


def said_in_words() -> str:
    """Say in words what the chart of sectors and lines shows."""
    five = sorted(taken for found in by_count("sectors").values() for count, taken in found if count == 5)
    two = sorted(taken for found in by_count("lines").values() for count, taken in found if count == 2)
    return (f"Recorded milliseconds of both kernels in nine blocks each, at N = {N_TIMED}. Left, over sectors per step: at five sectors "
            f"the times are {five[0]:.1f} to {five[len(two) - 1]:.1f} and {five[len(two)]:.1f} to {five[-1]:.1f}. Right, over lines per "
            f"step: from three lines on the times are {per_line()[0]:.1f} to {per_line()[-1]:.1f} ms per line; at two lines they are "
            f"{two[0]:.1f} to {two[-1]:.1f} ms, above that.")
