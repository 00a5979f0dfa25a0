"""The lesson's kernel with unused floats after the rows of its matrices: what was recorded, and what the banks of the L1 allow."""

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.counts import of_six_loads
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

SHOWN = {                       # name of a bar -> unused floats after each row of A, and of B
    "no unused floats": (0, 0),
    "32 after A's rows": (32, 0),
    "8 after B's rows": (0, 8),
    "16 after A's rows": (16, 0),
    "8 after A's rows": (8, 0),
    "4 after A's rows": (4, 0),
}


def speed_with_padding(after_a: int = 0, after_b: int = 0) -> float:
    """Return the recorded 10^12 operations a second of the lesson's kernel, with so many unused floats after each row.

    >>> speed_with_padding(), speed_with_padding(after_a=4)
    (11.8, 22.2)
    """
    row, = data.readings("fragments").find(after_A=after_a, after_B=after_b)
    return float(row["tflops"])


def allowed(after_a: int = 0, after_b: int = 0) -> float:
    """Return how many 10^12 operations a second the wavefronts in the L1 allow, with so many unused floats after each row.

    >>> round(allowed(), 1), round(allowed(after_a=4), 1)
    (13.4, 44.6)
    """
    return limit_by_wavefronts(of_six_loads(after_a, after_b), depth=8)


@style.styled
def draw_paddings() -> Axes:
    """Draw a bar for each recorded speed, and around it as an outline what the wavefronts allow."""
    ax, at = style.axes(width=8.6, height=3.6), range(len(SHOWN))
    speeds, most = ([found(*after) for after in SHOWN.values()] for found in (speed_with_padding, allowed))
    ax.barh(at, speeds, color=style.BLUE, height=0.66, label="recorded")
    ax.barh(at, most, facecolor="none", edgecolor=style.INK, linewidth=2, height=0.66,
            label=f"computed: what the wavefronts allow, at {device('H200').clock_mhz / 1000:.2f} GHz")
    for row, after in enumerate(SHOWN.values()):
        said = f"{speeds[row]:g}; {of_six_loads(*after)} wavefronts allow {most[row]:.1f}"
        ax.text(most[row] + 0.6, row, said, va="center", fontsize=13)
    ax.set_yticks(at, list(SHOWN), fontsize=13)
    ax.set_ylim(len(SHOWN) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.62 * max(most))
    ax.set_xlabel(f"TFLOP/s of your kernel, N = 4,096; {data.readings('fragments').label}", fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.02), ncols=2, borderaxespad=0)
    return ax


def paddings() -> Picture:
    """Show the recorded speeds of the lesson's kernel with unused floats after the rows, and what the wavefronts allow."""
    said = "; ".join(f"{name}: {speed_with_padding(*after):g}, and {of_six_loads(*after)} wavefronts allow {allowed(*after):.1f}"
                     for name, after in SHOWN.items())
    return render(draw_paddings(), f"TFLOP/s of the lesson's kernel by the unused floats. {said}.")
