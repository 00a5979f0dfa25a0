"""Both first kernels with blocks of nine shapes: recorded times beside the sectors and lines that a warp touches."""

from course_lib import data
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, lines_per_step, plural, sectors_per_step, unbroken, warp_in_c
from course_lib.lessons.first_kernel.times import GHZ, cycles_per_step
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

RECORDING = "shapes"
TIMED = (2048, 4096)               # rows begin a whole number of lines apart
ODD = 2047                         # they do not


def recorded(kernel: str, N: int) -> dict[tuple[int, int], float]:
    """Return the recorded seconds of the naive or the swapped kernel by its block (bx, by).

    >>> round(1e3 * recorded("naive", 2048)[32, 8], 2)
    2.59
    """
    return {(r.parameters["bx"], r.parameters["by"]): r.median_s for r in data.load(RECORDING).find(KERNELS[kernel], N)}


def by_rows(N: int) -> list[tuple[int, float]]:
    """Return (rows of C that a warp covers, clock cycles per step) of both kernels with each shape of block."""
    return sorted((warp_in_c(kernel, *block)[0], cycles_per_step(taken, N))
                  for kernel in KERNELS for block, taken in recorded(kernel, N).items())


def timed_shapes() -> Table:
    """Return the naive kernel's recorded times with blocks of nine shapes, beside the sectors and lines of a step."""
    rows, times = [], [recorded("naive", N) for N in TIMED]
    for block in times[0]:
        high, wide = warp_in_c("naive", *block)
        covered = unbroken(f"{plural(high, 'row')}, {plural(wide, 'column')}")
        cycles = [f"{cycles_per_step(found[block], N):.1f}" for found, N in zip(times, TIMED, strict=True)]
        rows.append((unbroken("{} × {}".format(*block)), covered, sectors_per_step("naive", *block), lines_per_step("naive", *block),
                     *cycles, f"{1e3 * times[-1][block]:.1f}"))
    header = (unbroken("bx × by"), "a warp covers, of C", "sectors per step", "lines per step",
              *(f"cycles per step, N = {N}" for N in TIMED), f"ms, N = {TIMED[-1]}")
    title = f"{SAID['naive']}; sectors and lines simulated; times {data.load(RECORDING).label}, cycles at {GHZ:g} GHz"
    return Table(header, rows, title)


@style.styled
def odd_shapes() -> Picture:
    """Draw clock cycles per step against the rows of C that a warp covers, for N = 2048 and N = 2047."""
    ax = style.axes(width=9.0, height=4.2)
    for N, colour, marker in ((TIMED[0], style.BLUE, "s"), (ODD, style.ORANGE, "o")):
        ax.plot(*zip(*by_rows(N), strict=True), linestyle="none", marker=marker, color=colour, label=f"N = {N}")
    rows = (1, 2, 4, 8, 16, 32)
    ax.plot(rows, [row + 1 for row in rows], color=style.GREY, linestyle="--", linewidth=1.5, label="fewest possible lines, one per cycle")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(rows, [str(row) for row in rows])
    ax.set_yticks((2, 4, 8, 16, 32), ("2", "4", "8", "16", "32"))
    ax.minorticks_off()
    ax.set(ylim=(1.7, 45), xlabel=f"rows of C that a warp covers; both kernels, {data.load(RECORDING).label}",
           ylabel=f"cycles per step, {GHZ:g} GHz")
    ax.legend(loc="upper left")
    return render(ax, described())


def described() -> str:
    """Say in words what the chart shows."""
    even, odd = ([value for rows, value in by_rows(N) if rows == 32] for N in (TIMED[0], ODD))
    return (f"Clock cycles per warp and step of both kernels at {GHZ:g} GHz, with blocks of nine shapes. Where a warp covers 32 rows of C "
            f"and touches 33 lines: {min(even):.1f} to {max(even):.1f} at N = {TIMED[0]}, {min(odd):.1f} to {max(odd):.1f} at N = {ODD}.")
