"""Lesson 20's pictures: the recorded race, the nine products, the side on which sums end, and what each way to add them costs."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.data import readings
from course_lib.lessons.few_bits.errors import COLOURS
from course_lib.lessons.few_bits.sums import GROUPS, LONGEST, WAYS, error_of, sides, sizes_of_products, summed
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

WATER, DEEP = "#D6EAF8", 13.0          # the colour below the waterline, and how many powers of ten the picture of products shows
SIGNS = {1: "all terms positive", -1: "all terms negative"}
KERNELS = {"sgemm_parts": "sgemm_parts: 64 terms per sum", "sgemm_naive": "sgemm_naive: one sum for all terms"}


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
    left, (rows, names) = style.axes(width=10.5, height=3.9), _raced()
    halves = style.figure_of(left).add_gridspec(1, 2)
    left.set_subplotspec(halves[0])
    right = style.figure_of(left).add_subplot(halves[1])
    at = np.arange(len(rows))
    for i, (name, (time, error)) in enumerate(names.items()):
        look: dict[str, Any] = {"color": COLOURS["three parts" if i else "float32"], "edgecolor": style.INK, "label": name}
        for axes, heights in ((left, [2e-12 * row["N"] ** 3 / row[time] for row in rows]), (right, [row[error] * 1e7 for row in rows])):
            axes.bar_label(axes.bar(at + 0.4 * i - 0.2, heights, 0.4, **look), fmt="%.0f" if axes is left else "%.1f", fontsize=12)
    for axes, title in ((left, "speed, TFLOP/s: more is better"), (right, "largest error, 10⁻⁷ of Σ |a| |b|: less is better")):
        axes.set_xticks(at, [f"{row['N']:,}" for row in rows])
        axes.set_xlabel("N")
        axes.set_title(title, fontsize=13.5)
    left.margins(y=0.3)
    right.margins(y=0.12)
    left.legend(loc="upper left")
    return left


def describe_beside_the_library() -> str:
    """Return what `draw_beside_the_library` shows, in words."""
    rows, names = _raced()
    return "; ".join(f"N = {row['N']:,}: " + ", ".join(
        f"{name} {2e-12 * row['N'] ** 3 / row[time]:.0f} TFLOP/s and error {row[error]:.1e}" for name, (time, error) in names.items())
        for row in rows)


def _products():
    """Return (i, j, size) of each product of part i of A and part j of B, and the error of float32's product at the same K."""
    return [(i, j, size) for i, row in enumerate(sizes_of_products()) for j, size in enumerate(row)], error_of("sgemm_naive", 256)


@style.styled
def draw_products() -> Axes:
    """Draw the nine products of parts as a square on its tip, each at the height of its size, and float32's error as a waterline."""
    ax, (products, line) = style.axes(width=9.0, height=5.2), _products()
    ax.axhspan(10.0**-DEEP, line, color=WATER, zorder=0)
    ax.axhline(line, color=COLOURS["float32"], zorder=1)
    for i, j, size in products:
        counts = size > line
        box = {"boxstyle": "round,pad=0.35", "facecolor": COLOURS["three parts"] if counts else "white", "edgecolor": style.INK}
        ax.text(j - i, size, f"A{i} · B{j}:  {size:.0e}", ha="center", va="center", bbox=box,
                color=style.text_on(COLOURS["three parts"]) if counts else style.text_on("#FFFFFF"))
    ax.text(-2.75, line / 1.7, f"float32's own error: {line:.0e}", color=COLOURS["float32"], va="top", fontweight="bold")
    ax.text(2.75, 0.3, "computed: 6", ha="right", va="center", fontweight="bold")
    ax.text(2.75, 3e-12, "left out: 3", ha="right", va="center", fontweight="bold")
    ax.set(xlim=(-2.8, 2.8), ylim=(10.0**-DEEP, 4.0), yscale="log", xticks=[], ylabel="largest element / Σ |a| |b|")
    ax.set_title("The nine products of parts, by size")
    return ax


def describe_products() -> str:
    """Return what `draw_products` shows, in words."""
    products, line = _products()
    above, below = (", ".join(f"A{i} B{j} {size:.0e}" for i, j, size in products if (size > line) is side) for side in (True, False))
    return f"Largest element of each product / Σ |a| |b|. Above float32's error, {line:.0e}: {above}. Below it: {below}."


@style.styled
def draw_sides() -> Axes:
    """Draw how many elements of C have which error, with its sign, where tensor cores add and where float32 does.

    Returns
    -------
    Axes
        The upper one, of positive terms; the figure's second is of negative terms.
    """
    upper = style.axes(width=9.0, height=4.8)
    halves = style.figure_of(upper).add_gridspec(2, 1)
    upper.set_subplotspec(halves[0])
    lower = style.figure_of(upper).add_subplot(halves[1])
    edges = np.linspace(-10, 10, 81).tolist()
    for ax, (sign, title) in zip((upper, lower), SIGNS.items(), strict=True):
        for found, name, colour in zip(summed(sign), ("sums by tensor cores", "sums in float32"), ("bfloat16", "float32"), strict=True):
            ax.hist(found.ravel() * 1e6, edges, color=COLOURS[colour], label=name)
        ax.axvline(0, color=style.INK, linewidth=1.5)
        ax.set_title(title, fontsize=13.5)
        ax.set(xlim=(-10, 10), ylabel="elements of C")
    upper.legend(loc="upper right")
    upper.set_xticklabels([])
    lower.set_xlabel("too low  ←   error, 10⁻⁶ of Σ |a| |b|   →  too high")
    return upper


def describe_sides() -> str:
    """Return what `draw_sides` shows, in words."""
    told = []
    for sign, terms in SIGNS.items():
        for name, found in zip(("tensor cores", "float32"), summed(sign), strict=True):
            low, exact, high = sides(found)
            told.append(f"{terms}, {name}: {low} too low, {exact} exact, {high} too high, at most {np.abs(found).max():.1e}")
    return f"Errors of {summed(1)[0].size:,} elements of C, K = {LONGEST:,}. " + "; ".join(told)


def ways() -> dict[str, float]:
    """Return the largest error of each way to add up `LONGEST` terms: sgemm_split and its changes, sgemm_parts, and float32."""
    return {KERNELS.get(way, way): error_of(way, LONGEST) for way in (*WAYS, *KERNELS, *GROUPS)}


@style.styled
def draw_ways() -> Axes:
    """Draw the largest error of each of `ways` as a bar from left to right on a logarithmic axis."""
    ax, found = style.axes(width=10.0, height=4.4), ways()
    colours = [COLOURS["float32" if way in (*GROUPS, KERNELS["sgemm_naive"]) else "three parts"] for way in found]
    bars = ax.barh(list(found), list(found.values()), color=colours, edgecolor=style.INK)
    ax.bar_label(bars, [f"{error:.1e}" for error in found.values()], padding=4)
    ax.invert_yaxis()
    ax.set(xscale="log", xlim=(1e-8, 1e-5), xlabel="largest error / Σ |a| |b|")
    ax.set_title(f"One change at a time, K = {LONGEST:,}")
    return ax


def describe_ways() -> str:
    """Return what `draw_ways` shows, in words."""
    return f"Largest error / Σ |a| |b|, K = {LONGEST:,}: " + "; ".join(f"{way} {error:.1e}" for way, error in ways().items())


def speed_and_error() -> Picture:
    """Show speed and largest error of cuBLAS and of sgemm_parts for each recorded N."""
    return render(draw_beside_the_library(), describe_beside_the_library())


def nine_products() -> Picture:
    """Show the nine products of parts by size, with float32's error as a waterline."""
    return render(draw_products(), describe_products())


def sides_of_sums() -> Picture:
    """Show on which side sums of terms of one sign end."""
    return render(draw_sides(), describe_sides())


def ways_to_add() -> Picture:
    """Show what each way to add costs."""
    return render(draw_ways(), describe_ways())
