"""Bars of *row from x*: what six shapes of a warp take, without and with unused floats after each row of A."""

from course_lib import data
from course_lib.arch import WARP
from course_lib.lessons.first_kernel.times import HEIGHTS, N_TIMED, PADDING, padded, sectors_of
from course_lib.plots import render, style
from course_lib.plots.picture import Picture


def by_shape(padding: int) -> list[float]:
    """Return the milliseconds of *row from x* by the rows that a warp covers, with so many unused floats after each row of A."""
    return [1e3 * padded("swapped", padding, bx=high)["median_s"] for high in HEIGHTS]


@style.styled
def shapes_again() -> Picture:
    """Draw two bars for each shape of a warp, one for each distance of the rows of A."""
    ax, said = style.axes(width=8.8, height=4.6), []
    names = [f"{high} × {WARP // high}: {sectors_of(high)} sectors" for high in HEIGHTS]
    for number, (padding, colour) in enumerate(((0, style.VERMILION), (PADDING, style.BLUE))):
        found, label = by_shape(padding), f"rows of A {N_TIMED + padding} floats apart"
        bars = ax.barh([y + 0.4 * number - 0.2 for y in range(len(names))], found, height=0.38, color=colour, label=label)
        ax.bar_label(bars, [f"{ms:.1f}" for ms in found], padding=4, fontsize=11.5)
        said.append(f"{label}: " + ", ".join(f"{name}, {ms:.1f} ms" for name, ms in zip(names, found, strict=True)) + ".")
    ax.set_yticks(range(len(names)), names, fontsize=12)
    ax.tick_params(axis="y", length=0)
    ax.legend(loc="upper right")
    ax.set(xlim=(0, 1.12 * max(by_shape(0))), ylim=(len(names) - 0.5, -0.6), title="rows × columns of C per warp: sectors per step",
           xlabel=f"ms, row from x, {N_TIMED} × {N_TIMED} matrices\n{data.readings('padded_rows').label}")
    return render(ax, f"Bars of milliseconds of row from x, by the rows × columns of C that a warp covers. {' '.join(said)}")
