"""A line of *row from x*: what it takes with unused floats after each row of A, by the positions of 16 numbers in their lines."""

from course_lib import data
from course_lib.lessons.first_kernel.times import N_TIMED, milliseconds, positions
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

SHOWN = (0, 16, 8, 4, 1)               # unused floats: of each number of positions one


@style.styled
def by_positions() -> Picture:
    """Draw the time of *row from x* over the number of positions in a line at which the 16 numbers of a request to A lie."""
    ax = style.axes(width=8.8, height=4.0)
    many, taken = [positions(padding) for padding in SHOWN], [milliseconds("swapped", padding) for padding in SHOWN]
    ax.semilogx(many, [float(ms) for ms in taken], base=2, marker="o", color=style.PURPLE)
    for padding, at, ms in zip(SHOWN, many, taken, strict=True):
        ax.annotate(f"{ms}\n{padding} unused", (at, float(ms)), (8, 4), textcoords="offset points", va="bottom", fontsize=12)
    ax.set_xticks(many, [str(at) for at in many])
    ax.minorticks_off()
    ax.set(xlim=(0.85, 28), ylim=(0, 175), ylabel="ms, row from x",
           xlabel="positions in a line at which the 16 numbers of A lie\n"
                  f"N = {N_TIMED}, unused floats after each row of A, {data.readings('padded_rows').label}")
    ax.grid(axis="y")
    said = ", ".join(f"{at} with {padding} unused floats: {ms} ms" for padding, at, ms in zip(SHOWN, many, taken, strict=True))
    return render(ax, f"Milliseconds of row from x by the positions in a line at which 16 numbers of A lie. {said}.")
