"""What both kernels take for each shape of a warp."""

from course_lib.arch import WARP
from course_lib.lessons.first_kernel.counts import SAID
from course_lib.lessons.first_kernel.times import N_TIMED, THREADS, how_padded, lines_of, milliseconds, padded, sectors_of
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

HEIGHTS = (1, 2, 4, 8, 16, 32)                # rows of C that a warp covers
HUES = {"naive": style.GREY, "swapped": style.PURPLE}
BY_LINES = "if the time went with the lines"   # from the time of two rows
HIGH = 0.38                                   # of a bar


def recorded(high: int) -> dict[str, str]:
    """Return the recorded milliseconds of both kernels in the blocks of 256 threads that give their warps so many rows.

    >>> recorded(16)
    {'naive': '140.6', 'swapped': '141.8'}
    """
    return {"naive": milliseconds("naive", bx=WARP // high), "swapped": milliseconds("swapped", bx=high)}


def extent(high: int) -> str:
    """Say which shape a warp of so many rows has.

    >>> extent(1), extent(4)
    ('1 row, 32 columns', '4 rows, 8 columns')
    """
    wide = WARP // high
    return f"{high} row{'s' * (high > 1)}, {wide} column{'s' * (wide > 1)}"


def by_lines(high: int) -> float:
    """Return the milliseconds of a warp of so many rows if the time went with its lines, from *col from x* in blocks of 16 × 16.

    >>> round(by_lines(2), 1), round(by_lines(16), 1)
    (25.4, 143.7)
    """
    return 1e3 * padded("naive")["median_s"] * lines_of(high) / lines_of(2)


@style.styled
def warp_times() -> Picture:
    """Draw two bars for each shape of a warp, and where they would end if the time went with the lines."""
    ax, said = style.axes(width=10.0, height=4.8), []
    for at, high in enumerate(HEIGHTS):
        for place, (kernel, ms) in enumerate(recorded(high).items()):
            y = at + (place - 0.5) * HIGH
            ax.barh(y, float(ms), HIGH, color=HUES[kernel], label="_" * (at > 0) + SAID[kernel])
            ax.text(max(float(ms), by_lines(high)) + 3, y, ms, va="center", fontsize=11.5)
        mark = [at - 1.1 * HIGH, at + 1.1 * HIGH]
        ax.plot([by_lines(high)] * 2, mark, color=style.VERMILION, linewidth=3, label="_" * (at > 0) + BY_LINES)
        said.append(f"{extent(high)}, {sectors_of(high)} sectors and {lines_of(high)} lines: "
                    f"{' and '.join(recorded(high).values())} ms, and {by_lines(high):.1f} if it went with the lines")
    shapes = [f"{extent(high)}:\n{lines_of(high)} lines ({sectors_of(high)} sectors)" for high in HEIGHTS]
    ax.set_yticks(range(len(HEIGHTS)), shapes)
    ax.invert_yaxis()
    ax.set(xlim=(0, 310), ylabel="what a warp covers of C",
           xlabel=f"ms for {N_TIMED} × {N_TIMED} matrices, blocks of {THREADS} threads, {how_padded().replace(', each', chr(10) + 'each')}")
    ax.xaxis.label.set_fontsize(11)
    ax.legend(loc="upper right")
    return render(ax, f"Milliseconds of {' and of '.join(SAID.values())} by what a warp covers of C. {'; '.join(said)}.")
