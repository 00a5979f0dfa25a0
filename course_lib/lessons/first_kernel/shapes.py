"""What both kernels take for each shape of a warp, beside the time that one line in every clock cycle would make."""

from course_lib.arch import WARP, device
from course_lib.lessons.first_kernel.counts import SAID
from course_lib.lessons.first_kernel.times import N_TIMED, THREADS, how_padded, milliseconds, sectors_of
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

HEIGHTS = (1, 2, 4, 8, 16, 32)                # rows of C that a warp covers
HUES = {"naive": style.GREY, "swapped": style.PURPLE}
HIGH, GPU = 0.36, "H200"                      # of a bar


def lines_of(high: int) -> int:
    """Return the lines of 128 bytes that a warp touches per step: one for each of its rows of A, and one of B.

    >>> lines_of(2), lines_of(16)
    (3, 17)
    """
    return high + 1


def by_lines(high: int) -> float:
    """Return the milliseconds of one product if every multiprocessor handled one line per clock cycle at the GPU's highest clock, modelled.

    >>> round(by_lines(2), 1), round(by_lines(16), 1)
    (24.6, 139.7)
    """
    gpu = device(GPU)
    return lines_of(high) * N_TIMED**3 / WARP / gpu.sms / (1e3 * gpu.clock_mhz)


def recorded(high: int) -> dict[str, str]:
    """Return the recorded milliseconds of both kernels in the blocks of 256 threads that give their warps so many rows.

    >>> recorded(16)
    {'naive': '140.6', 'swapped': '141.8'}
    """
    return {"naive": milliseconds("naive", bx=WARP // high), "swapped": milliseconds("swapped", bx=high)}


@style.styled
def warp_times() -> Picture:
    """Draw two bars for each shape of a warp, and a mark where one line per clock cycle would be."""
    ax, gpu, said = style.axes(width=10.0, height=5.4), device(GPU), []
    for at, high in enumerate(HEIGHTS):
        for place, (kernel, ms) in enumerate(recorded(high).items()):
            y = at + (place - 0.5) * HIGH
            ax.barh(y, float(ms), HIGH, color=HUES[kernel], label="_" * (at > 0) + SAID[kernel])
            ax.text(max(float(ms), by_lines(high)) + 3, y, ms, va="center", fontsize=11.5)
        mark = "_" * (at > 0) + "one line per clock cycle and multiprocessor"
        ax.plot([by_lines(high)] * 2, [at - 0.46, at + 0.46], color=style.INK, linewidth=2.6, label=mark)
        said.append(f"{high} × {WARP // high}, {sectors_of(high)} sectors and {lines_of(high)} lines: "
                    f"{' and '.join(recorded(high).values())} ms, {by_lines(high):.1f} by lines")
    shapes = [f"{high} × {WARP // high}: {lines_of(high)} lines\n({sectors_of(high)} sectors)" for high in HEIGHTS]
    ax.set_yticks(range(len(HEIGHTS)), shapes)
    ax.invert_yaxis()
    ax.set(xlim=(0, 310), ylabel="rows × columns of a warp", xlabel=f"ms for {N_TIMED} × {N_TIMED} matrices, blocks of {THREADS} threads, "
           f"{how_padded().replace(', each', chr(10) + 'each')}\nblack: {gpu.sms} multiprocessors, "
           f"if the clock was {gpu.clock_mhz:,} MHz, its highest; we did not record it")
    ax.xaxis.label.set_fontsize(11)
    ax.legend(loc="upper right")
    return render(ax, f"Milliseconds of {' and of '.join(SAID.values())} by the shape of a warp, rows × columns of C. {'; '.join(said)}.")
