"""Three pictures of lesson 01: what orders take per multiply-add, what makes up the factor between two, and the sets of a cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.explorables.orders import FLOAT, LINE_BYTES
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

COLOURS = {"ijk": style.ORANGE, "ikj": style.BLUE, "your loops": style.GREEN}
LETTER = 0.022                            # of a panel's width: a letter of a label
CROWDED, FITTING = style.VERMILION, style.BLUE
SETS, WAYS, SIDE = 64, 12, 8              # of a first-level cache of 48 KiB; the sets are drawn as a square


@dataclass(frozen=True)
class Panel:
    """What one computer took: for each program nanoseconds per multiply-add, one number per pair of matrices, and a note."""

    title: str
    bars: Mapping[str, Sequence[float]]
    note: str = ""


def factors(panel: Panel, number: int) -> list[tuple[str, float, str]]:
    """Return (program, nanoseconds, label) for one pair of matrices; labels compare with ijk.

    >>> factors(Panel("", {"ijk": [1.0], "ikj": [0.05]}), 0)
    [('ijk', 1.0, '1.00 ns'), ('ikj', 0.05, '0.050 ns: 20 times as fast')]
    """
    slow, found = panel.bars["ijk"][number], []
    for name, times in panel.bars.items():
        faster = f": {slow / times[number]:.2g} times as fast" if name != "ijk" else ""
        found.append((name, times[number], f"{times[number]:.{3 if times[number] < 0.1 else 2}f} ns{faster}"))
    return found


@style.styled
def times_picture(panels: Sequence[Panel], labels: Sequence[str]) -> Picture:
    """Draw one column of bars per computer; lower is faster, and all columns have one scale, on which every label has room."""
    figure = Figure(figsize=(11.4, 4.6), dpi=style.DPI, layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
    most = max(len(panel.bars) for panel in panels)
    for ax, panel in zip(parts, panels, strict=True):
        _bars(ax, panel, labels, most)
    drawn = [bar for panel in panels if panel.bars for number in range(len(labels)) for bar in factors(panel, number)]
    parts[0].set_xlim(0, max(time / (1 - LETTER * len(said)) for _, time, said in drawn))
    return render(figure, " ".join(_told(panel, labels) for panel in panels))


def _bars(ax, panel, labels, most):
    """Draw one computer's bars; every pair of matrices gets the height of `most` bars, so that it stands beside its neighbour."""
    ax.set_title(panel.title, fontsize=13)
    ax.set_xlabel("nanoseconds per multiply-add" + (f"\n{panel.note}" if panel.bars and panel.note else ""), fontsize=12)
    ax.set_yticks([])
    if not panel.bars:
        ax.text(0.02, 0.5, panel.note, transform=ax.transAxes, wrap=True, fontsize=12)
        return
    ticks, group = {}, most + 1.1
    for number, label in enumerate(labels):
        ax.text(0, number * group - 0.1, label, fontsize=12, weight="bold", va="bottom")
        for place, (name, time, said) in enumerate(factors(panel, number)):
            y = number * group + place + 0.45
            ax.barh(y, time, height=0.8, color=COLOURS[name])
            ax.annotate(said, (time, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=12)
            ticks[y] = name
    ax.set_yticks(list(ticks), list(ticks.values()), fontsize=12)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(labels) * group - 0.9, -1)


def _told(panel, labels):
    if not panel.bars:
        return f"{panel.title}. {panel.note}"
    rows = (f"{label}: {', '.join(f'{name} {said}' for name, _, said in factors(panel, number))}" for number, label in enumerate(labels))
    return f"Bars, {panel.title}, nanoseconds per multiply-add. {'; '.join(rows)}. {panel.note}"


@style.styled
def steps_picture(steps: Sequence[tuple[str, float, str]], unit: str, note: str, order: tuple[int, int] | None = None) -> Picture:
    """Draw one bar of seconds per step, between two bars the factor and what changes, and beside all of them the whole factor.

    `order`: two bars between which only the order changes, where others stand between them; their factor gets a bracket, too.
    """
    ax = style.axes(width=9.4, height=1 + 0.6 * len(steps))
    names, seconds, changes = zip(*steps, strict=True)
    places, most, last = range(len(steps)), max(seconds), len(steps) - 1
    said = [f"{now:.3f} s" for now in seconds]
    between = [f"× {now / before:.{1 if now > 2 * before else 2}f} ({change})"
               for (before, now), change in zip(pairwise(seconds), changes, strict=False)]
    ax.barh(places, seconds, height=0.5, color=[COLOURS[name[:3]] for name in names])
    for y, now, words in zip(places, seconds, said, strict=True):
        ax.annotate(words, (now, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=13)
    for y, words in enumerate(between):
        ax.text(0.25 * most, y + 0.5, words, va="center", fontsize=13)
    whole, inner = f"× {seconds[-1] / seconds[0]:.0f}", ""
    _bracket(ax, (0, last), 1.22 * most, 0.04 * most, whole)
    if order:
        inner = f"× {seconds[order[1]] / seconds[order[0]]:.1f} (order, with vectors)"
        _bracket(ax, order, 0.66 * most, 0.04 * most, inner)
        inner = f" From bar {order[0] + 1} to bar {order[1] + 1} {inner}."
    ax.set_yticks(places, names, fontsize=13)
    ax.set_xlabel(f"{unit}\n{note}", fontsize=12)
    ax.set(xlim=(0, 1.42 * most), ylim=(last + 0.5, -0.5))
    told = "; ".join(part for y in places for part in (f"{names[y]}: {said[y]}", *between[y:y + 1]))
    return render(ax, f"Bars, {unit}, and between two bars the factor. {told}. From the first to the last {whole}.{inner} {note}.")


def _bracket(ax: Axes, bars: tuple[int, int], x: float, wide: float, words: str) -> None:
    """Draw a bracket from one bar to another, with a factor beside it."""
    ax.plot([x, x + wide, x + wide, x], [bars[0], bars[0], bars[1], bars[1]], color=style.GREY)
    ax.text(x + 1.5 * wide, sum(bars) / 2, words, va="center", fontsize=13)


def in_sets(rows: int, distance: int) -> np.ndarray:
    """Return how many lines of a column belong to each of the 64 sets.

    Parameters
    ----------
    rows
        Lines of the column.
    distance
        Bytes from one of its elements to the next.

    >>> in_sets(512, 2048)[[0, 1, 32]].tolist(), in_sets(512, 2112).tolist() == [8] * 64
    ([256, 0, 256], True)
    """
    return np.bincount(np.arange(rows) * distance // LINE_BYTES % SETS, minlength=SETS)


@style.styled
def sets(N: int = 512, gap: int = 16) -> Picture:
    """Draw into which sets of a first-level cache a column of B falls, with its rows N and N + gap floats apart."""
    figure = Figure(figsize=(11.4, 4.9), dpi=style.DPI, layout="constrained")
    FigureCanvasAgg(figure)
    told = []
    for ax, ldb in zip(figure.subplots(1, 2), (N, N + gap), strict=True):
        wanted = in_sets(N, FLOAT * ldb)
        used, fit = int((wanted > 0).sum()), int(np.minimum(wanted, WAYS).sum())
        ax.set_title(f"rows of B {FLOAT * ldb:,} bytes apart:\n{fit} of the column's {N} lines fit", fontsize=14)
        for number, lines in enumerate(wanted.tolist()):
            y, x = divmod(number, SIDE)
            colour = "white" if not lines else CROWDED if lines > WAYS else FITTING
            ax.add_patch(Rectangle((x + 0.03, y + 0.03), 0.9, 0.9, facecolor=colour, edgecolor=style.GREY, linewidth=1.2))
            ax.text(x + 0.48, y + 0.5, lines or "", ha="center", va="center", fontsize=12, color=style.text_on(colour))
        ax.set(xlim=(-0.1, SIDE), ylim=(SIDE, -0.1), aspect="equal")
        ax.axis("off")
        told.append(f"With rows {FLOAT * ldb:,} bytes apart, {used} sets are wanted by {wanted.max()} lines each, and {fit} lines fit.")
    figure.supxlabel(f"{SETS} sets; each number: lines of the column that belong to the set; a set holds {WAYS}", fontsize=13)
    return render(figure, f"The {SETS} sets of a cache as two squares; each set holds {WAYS} lines. {' '.join(told)}")
