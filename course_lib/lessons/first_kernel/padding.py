"""Unused floats after each row: where the numbers of a column of A then lie in pieces of 32 floats, and what the kernels take."""

from typing import Any

from matplotlib.patches import Rectangle

from course_lib import data
from course_lib.arch import WARP
from course_lib.lessons.first_kernel.times import N_PROFILED, N_TIMED
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

ROWS, PIECE = 16, 32               # rows that a warp of *row from x* covers in blocks of 16 × 16; floats in a piece
PADDING, PADDINGS = 4, (0, 8, 4, 1)          # unused floats after each row: those that the lesson asks about, and all of its table


def padded(kernel: str, padding: int, N: int = N_TIMED) -> dict[str, Any]:
    """Return the recorded time of the naive or the swapped kernel in blocks of 16 × 16, with unused floats after each row of A and B."""
    row, = data.readings("coalescing").find(what="product", N=N, variant=kernel, TILE=16, padding=padding)
    return row


def profiled(kernel: str, padding: int) -> dict[str, Any]:
    """Return what a profiler counted of the same launch at N = 1024."""
    row, = data.readings("coalescing").find(what="count", N=N_PROFILED, variant=kernel, TILE=16, padding=padding)
    return row


def padded_ms() -> float:
    """Return the milliseconds, to one decimal, of *row from x* at N = 4096 with four unused floats after each row.

    >>> padded_ms()
    56.0
    """
    return round(1e3 * padded("swapped", PADDING)["median_s"], 1)


def places_of(row_floats: int) -> list[int]:
    """Return the place in its piece of 32 floats of each of the first 16 numbers of column 0, when rows begin so many floats apart.

    >>> places_of(4100)[:4]
    [0, 4, 8, 12]
    """
    return [row * row_floats % PIECE for row in range(ROWS)]


def places_and_ms(padding: int) -> tuple[int, float]:
    """Return how many places the 16 numbers of a column lie at, and the milliseconds of *row from x* at N = 4096.

    >>> places_and_ms(1)
    (16, 51.1)
    """
    return len(set(places_of(N_TIMED + padding))), round(1e3 * padded("swapped", padding)["median_s"], 1)


def padded_rows() -> Table:
    """Return what *row from x* touched in a step and took at N = 4096, by the unused floats after each row."""
    rows = []
    for padding in PADDINGS:
        many, ms = places_and_ms(padding)
        rows.append((padding, f"{profiled('swapped', padding)['load_sectors'] * WARP / N_PROFILED**3:g}", many, f"{ms:.1f}"))
    label, how = data.readings("coalescing").label, data.spread(padded("swapped", padding) for padding in PADDINGS)
    header = ("unused floats after each row", "sectors per step", "places of the 16 numbers of A", "ms")
    return Table(header, rows, f"row from x, blocks of 16 × 16, {N_TIMED} × {N_TIMED} matrices, {label}, {how}; "
                               f"sectors counted by a profiler for {N_PROFILED} × {N_PROFILED}")


@style.styled
def places() -> Picture:
    """Draw the piece of each row in which a warp's number of A lies, for each distance from row to row, with the recorded time."""
    ax, said = style.axes(width=10.0, height=3.4), []
    for i, padding in enumerate(PADDINGS):
        left, (many, ms) = i * (PIECE + 5), places_and_ms(padding)
        for row, place in enumerate(places_of(N_TIMED + padding)):
            ax.add_patch(Rectangle((left, row), PIECE, 1, facecolor=style.PALE, edgecolor=style.GREY, linewidth=0.6))
            ax.add_patch(Rectangle((left + place, row), 1, 1, facecolor=style.VERMILION, edgecolor="none"))
        counted = f"{many} place{'s' if many > 1 else ''}"
        ax.text(left, -0.5, f"rows {N_TIMED + padding} floats apart:\n{counted}, {ms:.1f} ms", fontsize=11, va="bottom", linespacing=1.4)
        said.append(f"with rows {N_TIMED + padding} floats apart they lie at {counted}, {ms:.1f} ms")
    ax.text(-1, 0.5, "row 0", fontsize=11, va="center", ha="right")
    ax.text(-1, ROWS - 0.5, f"row {ROWS - 1}", fontsize=11, va="center", ha="right")
    ax.text(0, ROWS + 0.6, f"Each line: a piece of {PIECE} floats of a row of A, and the number in it that the warp wants", fontsize=11,
            va="top")
    ax.set(xlim=(-12, len(PADDINGS) * (PIECE + 5) - 4), ylim=(ROWS + 2, -4))
    ax.axis("off")
    return render(ax, f"The {ROWS} numbers of a column of A that a warp of row from x wants, each in its row's piece of {PIECE} floats: "
                      f"{'; '.join(said)}.")
