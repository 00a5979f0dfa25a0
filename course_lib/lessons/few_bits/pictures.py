"""Lesson 20's pictures: the recorded race, the nine products, parts or short sums, and the side on which sums end."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.data import readings
from course_lib.lessons.few_bits.errors import COLOURS, as_power
from course_lib.lessons.few_bits.sums import LONGEST, TERMS, error_of, exact_sums, sides, sizes_of_products, summed, ways
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

WATER, DEEP = "#D6EAF8", 44            # the colour below the waterline, and how many powers of two the picture of products shows
SIGNS = {1: "all terms positive", -1: "all terms negative"}
WIDTH = 5.6                            # inches of every picture: on a phone the words are large enough, too
ROWS, COLUMNS = ("float32", "three parts,\ntensor cores"), ("one long sum", f"sums of {TERMS} terms")      # of the picture of `ways`
KERNELS = {(False, False): "sgemm_naive", (True, True): "sgemm_parts"}
POINTS = 30                            # square points per 10⁻⁸: the areas of the squares are the errors


def drawn_power(x: float) -> str:
    """Write a number as a power of two for Matplotlib, whose exponents are larger than the raised digits of its letters.

    >>> drawn_power(2.0**-7)
    '$2^{-7.0}$'
    """
    return f"$2^{{{math.log2(x):.1f}}}$"


def _raced():
    """Return the recorded rows of sgemm_parts, and under which keys they have the time and the error of each bar."""
    return readings("warpgroups").find(kernel="sgemm_parts"), {"cuBLAS": ("library", "library_error"), "sgemm_parts": ("ours", "error")}


@style.styled
def draw_beside_the_library() -> Axes:
    """Draw speed, and beside it the largest error, of cuBLAS and of sgemm_parts for each recorded N.

    Returns
    -------
    Axes
        That of the speeds; the errors have the figure's second.
    """
    speeds, (rows, names) = style.axes(width=WIDTH, height=3.4), _raced()
    halves = style.figure_of(speeds).add_gridspec(1, 2)
    speeds.set_subplotspec(halves[0])
    errors = style.figure_of(speeds).add_subplot(halves[1])
    at = np.arange(len(rows))
    for i, (name, (time, error)) in enumerate(names.items()):
        look: dict[str, Any] = {"color": COLOURS["three parts" if i else "float32"], "edgecolor": style.INK, "label": name}
        for axes, lengths in ((speeds, [2e-12 * row["N"] ** 3 / row[time] for row in rows]), (errors, [row[error] for row in rows])):
            bars = axes.barh(at + 0.4 * i - 0.2, lengths, 0.4, **look)
            axes.bar_label(bars, fmt="%.0f" if axes is speeds else drawn_power, padding=3, fontsize=13)
    for axes, title in ((speeds, "Speed, TFLOP/s:\nmore is better"), (errors, "Largest error / Σ |a| |b|:\nless is better")):
        axes.set_title(title, fontsize=13)
        axes.set(ylim=(len(rows) - 0.5, -0.5), xticks=[])
        axes.margins(x=0.25)
        axes.spines["bottom"].set_visible(False)
    speeds.set_yticks(at, [f"N = {row['N']:,}" for row in rows])
    errors.set_yticks([])
    style.figure_of(speeds).legend(*speeds.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return speeds


def describe_beside_the_library() -> str:
    """Return what `draw_beside_the_library` shows, in words."""
    rows, names = _raced()
    return "; ".join(f"N = {row['N']:,}: " + ", ".join(
        f"{name} {2e-12 * row['N'] ** 3 / row[time]:.0f} TFLOP/s and error {as_power(row[error])}" for name, (time, error) in names.items())
        for row in rows)


def _products():
    """Return (i, j, size) of each product of part i of A and part j of B, and the error of float32's product at the same K."""
    return [(i, j, size) for i, row in enumerate(sizes_of_products()) for j, size in enumerate(row)], error_of("sgemm_naive", 256)


def small_products() -> int:
    """Return how many of the nine products are everywhere smaller than float32's error."""
    products, line = _products()
    return sum(size < line for _, _, size in products)


@style.styled
def draw_products() -> Axes:
    """Draw the nine products of parts as a square on its tip, each at the height of its size, and float32's error as a line."""
    ax, (products, line) = style.axes(width=WIDTH, height=5.0), _products()
    ax.axhspan(2.0**-DEEP, line, color=WATER, zorder=0)
    ax.axhline(line, color=COLOURS["float32"], zorder=1)
    for i, j, size in products:
        counts = size > line
        box = {"boxstyle": "round,pad=0.35", "facecolor": COLOURS["three parts"] if counts else "white", "edgecolor": style.INK}
        ax.text(j - i, size, f"A{i} · B{j}", ha="center", va="center", bbox=box,
                color=style.text_on(COLOURS["three parts"]) if counts else style.text_on("#FFFFFF"))
    ax.text(-2.7, line / 1.9, f"error of sgemm_naive: {drawn_power(line)}", color=COLOURS["float32"], va="top", fontweight="bold")
    ax.text(2.7, 0.3, "computed: 6", ha="right", va="center", fontweight="bold")
    ax.text(2.7, 3e-12, "left out: 3", ha="right", va="center", fontweight="bold")
    ax.set(xlim=(-2.8, 2.8), xticks=[], ylabel="largest element / Σ |a| |b|")
    ax.set_yscale("log", base=2)
    ax.set(ylim=(2.0**-DEEP, 4.0), yticks=[2.0**n for n in range(-40, 1, 8)])
    ax.minorticks_off()
    ax.set_title("The nine products of parts: random numbers, K = 256", fontsize=13, loc="right")
    return ax


def describe_products() -> str:
    """Return what `draw_products` shows, in words."""
    products, line = _products()
    above, below = (", ".join(f"A{i} B{j} {as_power(size)}" for i, j, size in products if (size > line) is side) for side in (True, False))
    return f"Largest element of each product / Σ |a| |b|. Above float32's error, {as_power(line)}: {above}. Below it: {below}."


@style.styled
def draw_sides() -> Axes:
    """Draw how many elements of C have which error, with its sign, where tensor cores add and where float32 does.

    Returns
    -------
    Axes
        The upper one, of positive terms; the figure's second is of negative terms.
    """
    upper = style.axes(width=WIDTH, height=5.2)
    halves = style.figure_of(upper).add_gridspec(2, 1)
    upper.set_subplotspec(halves[0])
    lower = style.figure_of(upper).add_subplot(halves[1])
    edges = np.linspace(-10, 10, 81).tolist()
    for ax, (sign, title) in zip((upper, lower), SIGNS.items(), strict=True):
        for found, colour in zip(summed(sign), ("bfloat16", "float32"), strict=True):
            ax.hist(found.ravel() * 2**20, edges, color=COLOURS[colour])
        ax.axvline(0, color=style.INK, linewidth=1.5)
        ax.set_title(title, fontsize=13.5)
        ax.set(xlim=(-10, 10), xticks=range(-10, 11, 5), ylabel="elements of C")
        side = "left" if sign > 0 else "right"
        ax.text(-6.6 * sign, 260, "sums by\ntensor cores", ha=side)
        ax.text(1.4 * sign, 90, "sums in float32", ha=side)
    upper.set_xticklabels([])
    lower.set_xlabel("too low ← error, 2⁻²⁰ of Σ |a| |b| → too high")
    return upper


def describe_sides() -> str:
    """Return what `draw_sides` shows, in words."""
    told = []
    for sign, terms in SIGNS.items():
        for name, found in zip(("tensor cores", "float32"), summed(sign), strict=True):
            low, exact, high = sides(found)
            told.append(f"{terms}, {name}: {low} too low, {exact} exact, {high} too high, at most {as_power(np.abs(found).max())}")
    return f"Errors of {summed(1)[0].size:,} elements of C, K = {LONGEST:,}. " + "; ".join(told)


@style.styled
def draw_ways() -> Axes:
    """Draw the largest errors of `ways` as squares of that area: a row for each kind of numbers, a column for each length of the sums."""
    ax = style.axes(width=WIDTH, height=4.2)
    for (split, short), error in ways().items():
        side = (POINTS * error * 1e8) ** 0.5
        colour = COLOURS["three parts" if split else "float32"]
        ax.scatter(short, split, side**2, marker="s", color=colour, edgecolors=style.INK)
        ax.annotate(drawn_power(error), (short, split), (0, side / 2 + 5), textcoords="offset points", ha="center", fontsize=15)
        if (split, short) == (True, False):
            ax.annotate("its sums\nare cut off", (short, split), ha="center", va="center", color=style.text_on(colour), fontsize=12)
        if (split, short) in KERNELS:
            ax.annotate(KERNELS[split, short], (short, split), (0, -side / 2 - 5), textcoords="offset points", ha="center", va="top")
    for row in (0, 1):
        ax.annotate("", (0.8, row), (0.36, row), arrowprops={"arrowstyle": "->", "color": style.INK, "linewidth": 2})
        ax.text(0.58, row - 0.1, "short sums", ha="center")
    ax.set(xlim=(-0.5, 1.5), ylim=(1.62, -0.5))
    ax.set_xticks([0, 1], COLUMNS, fontsize=13)
    ax.set_yticks([0, 1], ROWS, fontsize=13)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(f"three parts, exact sums: {drawn_power(exact_sums())}\n\narea: largest error / Σ |a| |b|\n"
                  f"(K = {LONGEST:,}, computed by the simulator)", fontsize=13)
    ax.xaxis.set_label_position("bottom")
    return ax


def describe_ways() -> str:
    """Return what `draw_ways` shows, in words."""
    told = (f"{ROWS[split]}, {COLUMNS[short]} {as_power(error)}".replace("\n", " ") for (split, short), error in ways().items())
    return (f"Largest error / Σ |a| |b|, K = {LONGEST:,}, computed by the simulator: " + "; ".join(told)
            + f"; three parts with exact sums {as_power(exact_sums())}")


def speed_and_error() -> Picture:
    """Show speed and largest error of cuBLAS and of sgemm_parts for each recorded N."""
    return render(draw_beside_the_library(), describe_beside_the_library())


def nine_products() -> Picture:
    """Show the nine products of parts by size, with float32's error as a line."""
    return render(draw_products(), describe_products())


def sides_of_sums() -> Picture:
    """Show on which side sums of terms of one sign end."""
    return render(draw_sides(), describe_sides())


def parts_or_sums() -> Picture:
    """Show the errors with and without parts, with long and with short sums."""
    return render(draw_ways(), describe_ways())
