"""Unused floats after each row: where the numbers of a column of A then lie in pieces of 32 floats, and what the kernels take."""

from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from course_lib import data
from course_lib.arch import WARP
from course_lib.lessons.first_kernel.blocks import ODD, RECORDING, seconds_by_block
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, unbroken, warp_in_c
from course_lib.lessons.first_kernel.times import GHZ, N_PROFILED, N_TIMED, cycles_per_step
from course_lib.model import l1_wavefronts
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

BLOCK, FLOAT = (16, 16), 4         # threads along x and y; bytes
ROWS, PIECE, SECTOR = 16, 32, 8    # rows that a warp of *row from x* covers in such a block; floats in a piece, which is a line of the L1
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


def places_of(row_floats: int, rows: int = ROWS) -> list[int]:
    """Return the place in its piece of 32 floats of each of the first numbers of column 0, when rows begin so many floats apart.

    >>> places_of(4100)[:4]
    [0, 4, 8, 12]
    """
    return [row * row_floats % PIECE for row in range(rows)]


def places_and_ms(padding: int) -> tuple[int, float]:
    """Return how many places the 16 numbers of a column lie at, and the milliseconds of *row from x* at N = 4096.

    >>> places_and_ms(1)
    (16, 51.1)
    """
    return len(set(places_of(N_TIMED + padding))), round(1e3 * padded("swapped", padding)["median_s"], 1)


def rule_cycles(kernel: str, row_floats: int) -> int:
    """Return the clock cycles of a warp's step if each place of a piece gives one number per cycle, to A and to B one after the other.

    >>> [rule_cycles("swapped", N_TIMED + padding) for padding in PADDINGS], rule_cycles("naive", 4096), rule_cycles("naive", 4100)
    ([17, 5, 3, 2], 3, 2)
    """
    high, wide = warp_in_c(kernel, *BLOCK)
    return l1_wavefronts(FLOAT * row_floats * np.arange(high)) + l1_wavefronts(FLOAT * np.arange(wide))


def touched(kernel: str, row_floats: int, floats: int) -> float:
    """Return how many pieces of so many floats a warp touches per step, on average over all steps and places of its columns.

    >>> touched("swapped", 4096, SECTOR), touched("naive", 4100, SECTOR), touched("naive", 4100, PIECE)
    (17.0, 4.5, 3.375)
    """
    high, wide = warp_in_c(kernel, *BLOCK)
    first = np.add.outer(row_floats * np.arange(PIECE), np.arange(0, PIECE, wide)) % floats       # of the neighbours of B
    return float(high + np.mean((first + wide - 1) // floats + 1))


def padded_rows(kernel: str = "swapped") -> Table:
    """Return what a kernel touched in a step and took at N = 4096, by the unused floats after each row of A and of B."""
    rows, high = [], warp_in_c(kernel, *BLOCK)[0]
    for padding in PADDINGS:
        pitch, taken = N_TIMED + padding, padded(kernel, padding)["median_s"]
        sectors = profiled(kernel, padding)["load_sectors"] * WARP / N_PROFILED**3
        rows.append((padding, f"{sectors:g}", len(set(places_of(pitch, high))), rule_cycles(kernel, pitch),
                     f"{cycles_per_step(taken):.1f}", f"{1e3 * taken:.1f}"))
    label, how = data.readings("coalescing").label, data.spread(padded(kernel, padding) for padding in PADDINGS)
    header = ("unused floats after each row", "sectors per step", f"places of the {high} numbers of A", "cycles per step by the rule",
              "cycles per step, from the time", "ms")
    return Table(header, rows, f"{SAID[kernel]}, blocks of 16 × 16, {N_TIMED} × {N_TIMED} matrices, {label}, {how}; cycles at {GHZ:g} GHz; "
                               f"sectors counted by a profiler for {N_PROFILED} × {N_PROFILED}")


def rows_apart() -> Table:
    """Return what both kernels touch in a step and took, by the floats from the beginning of one row to that of the next."""
    rows = []
    for kernel in reversed(KERNELS):
        high = warp_in_c(kernel, *BLOCK)[0]
        taken = [(N, N, seconds_by_block(kernel, N)[BLOCK]) for N in (ODD, ODD + 1, N_TIMED)]
        for N, pitch, seconds in (*taken, (N_TIMED, N_TIMED + PADDING, padded(kernel, PADDING)["median_s"])):
            rows.append((unbroken(SAID[kernel]), N, pitch, *(f"{round(touched(kernel, pitch, size), 3):g}" for size in (SECTOR, PIECE)),
                         len(set(places_of(pitch, high))), rule_cycles(kernel, pitch), f"{cycles_per_step(seconds, N):.1f}"))
    header = ("kernel", "N", "floats from row to row", "sectors per step", "lines per step", "places of A's numbers",
              "cycles per step by the rule", "cycles per step, from the time")
    label = data.load(RECORDING).label
    return Table(header, rows, f"Blocks of 16 × 16, {label}; cycles at {GHZ:g} GHz; sectors, lines and places by the formula")


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
