"""What both kernels take for each shape of a warp."""

from course_lib.arch import WARP
from course_lib.lessons.first_kernel.counts import SAID
from course_lib.lessons.first_kernel.times import N_TIMED, THREADS, how_padded, lines_of, milliseconds, sectors_of
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

HEIGHTS = (1, 2, 4, 8, 16, 32)                # rows of C that a warp covers
HUES = {"naive": style.GREY, "swapped": style.PURPLE}
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


@style.styled
def warp_times() -> Picture:
    """Draw two bars for each shape of a warp."""
    ax, said = style.axes(width=10.0, height=4.8), []
    for at, high in enumerate(HEIGHTS):
        for place, (kernel, ms) in enumerate(recorded(high).items()):
            y = at + (place - 0.5) * HIGH
            ax.barh(y, float(ms), HIGH, color=HUES[kernel], label="_" * (at > 0) + SAID[kernel])
            ax.text(float(ms) + 3, y, ms, va="center", fontsize=11.5)
        said.append(f"{extent(high)}, {sectors_of(high)} sectors and {lines_of(high)} lines: "
                    f"{' and '.join(recorded(high).values())} ms")
    shapes = [f"{extent(high)}:\n{lines_of(high)} lines ({sectors_of(high)} sectors)" for high in HEIGHTS]
    ax.set_yticks(range(len(HEIGHTS)), shapes)
    ax.invert_yaxis()
    ax.set(xlim=(0, 310), ylabel="what a warp covers of C",
           xlabel=f"ms for {N_TIMED} × {N_TIMED} matrices, blocks of {THREADS} threads, {how_padded().replace(', each', chr(10) + 'each')}")
    ax.xaxis.label.set_fontsize(11)
    ax.legend(loc="upper right")
    return render(ax, f"Milliseconds of {' and of '.join(SAID.values())} by what a warp covers of C. {'; '.join(said)}.")
