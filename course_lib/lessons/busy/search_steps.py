"""A search for the fastest tiles, step by step: every candidate in its cell, and its bound against its time."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from course_lib.plots import style
from course_lib.widgets import player
from course_lib.widgets.steps import Player

if TYPE_CHECKING:
    from course_lib.bench.search import Search

SHADES = OPEN, DISCARDED, PRUNED, SLOW, FAST = "white", "#555555", "#D9D9D9", "#DCEBF5", style.BLUE
NOW, BEST = style.ORANGE, style.VERMILION
MICRO = 1e6


@style.styled
def search_step(found: "Search", index: int) -> Axes:
    """Draw one step of a search.

    Parameters
    ----------
    index
        Of its steps.

    Returns
    -------
    Axes
        The left one of two: a cell for each candidate, with its time in µs; `ax.figure.axes[1]` has bounds and times.

    >>> from course_lib.bench.search import search
    >>> ax = search_step(search(1024), 0)
    >>> ax.images[0].get_array().shape, ax.get_title(loc="left")[:9]
    ((12, 12), 'Step 1 of')
    """
    step = found.steps[index]
    figure = Figure(figsize=(10.8, 5.6), dpi=style.DPI)     # positions by hand: to find a layout takes longer than the drawing
    FigureCanvasAgg(figure)
    left, right = (figure.add_axes(place) for place in ((0.115, 0.235, 0.44, 0.66), (0.65, 0.235, 0.34, 0.66)))
    _cells(left, found, step)
    _points(right, found, step)
    left.set_title(f"Step {index + 1} of {len(found.steps)}: N = {found.N}", fontsize=12)
    figure.suptitle(step.words, x=0.01, y=0.99, ha="left", fontsize=14)
    return left


def _cells(ax, found, step):
    """Draw a cell for each candidate: tiles down, threads across."""
    names, values = found.names, [sorted(set(column)) for column in zip(*found.candidates)]
    rows = list(itertools.product(*values[:3]))
    cols = list(itertools.product(*values[3:]))
    best = step.best
    shades = np.zeros((len(rows), len(cols)), int)
    for candidate in found.candidates:
        x, y = cols.index(candidate[3:]), rows.index(candidate[:3])
        shades[y, x] = _shade(candidate, step)
        if candidate in step.times:
            ax.text(x + 0.5, y + 0.5, f"{step.times[candidate] * MICRO:,.0f}", ha="center", va="center", fontsize=8.5,
                    color=style.text_on(SHADES[shades[y, x]]))
    ax.imshow(shades, ListedColormap(SHADES), vmin=0, vmax=len(SHADES) - 1, extent=(0, len(cols), len(rows), 0), aspect="auto",
              interpolation="nearest")
    ax.hlines(range(len(rows) + 1), 0, len(cols), color=style.GREY, linewidth=0.6)
    ax.vlines(range(len(cols) + 1), 0, len(rows), color=style.GREY, linewidth=0.6)
    for candidate, colour in ((step.now, NOW), (best, BEST)):
        if candidate:
            x, y = cols.index(candidate[3:]), rows.index(candidate[:3])
            ax.plot([x, x + 1, x + 1, x, x], [y, y, y + 1, y + 1, y], color=colour, linewidth=3)
    ax.set(xlim=(0, len(cols)), ylim=(len(rows), 0), xlabel=" × ".join(names[3:]) + " threads")
    ax.set_xticks(np.arange(len(cols)) + 0.5, [" × ".join(map(str, c)) for c in cols], rotation=60, ha="right", rotation_mode="anchor",
                  fontsize=10)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [f"{a} × {b}, {w}" for a, b, w in rows], fontsize=10)
    ax.set_ylabel(" × ".join(names[:2]) + f", {names[2]}")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _shade(candidate, step):
    """Return the number of a candidate's colour in `SHADES`."""
    if candidate in step.discarded:
        return SHADES.index(DISCARDED)
    if candidate in step.pruned:
        return SHADES.index(PRUNED)
    if candidate in step.times:
        return SHADES.index(FAST if candidate == step.best else SLOW)
    return SHADES.index(OPEN)


def _points(ax, found, step):
    """Draw bound against time: those that were tried as points, the others as ticks at the bottom; at the end hollow points for all."""
    limits, known = [b * MICRO for b in found.steps[-1].bounds.values()], [t * MICRO for t in found.all_times.values()]
    low, high = 0.8 * min(limits), 1.35 * max(known)
    ax.set(xscale="log", yscale="log", xlim=(low, 1.25 * max(limits)), ylim=(low, high),
           xlabel="the least it can take, µs, modelled", ylabel=f"time, µs\n{found.label}")
    ax.yaxis.label.set_fontsize(11)
    ax.xaxis.label.set_fontsize(12)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(lambda value, _: f"{value:,g}" if f"{value:e}"[0] in "25" else "")
    ax.plot([low, high], [low, high], color=style.GREY, linestyle="--", linewidth=1.5)
    best = step.best
    if best:
        at = step.times[best] * MICRO
        ax.axvspan(at, 1e9, color=PRUNED, alpha=0.6, linewidth=0)
        ax.axhline(at, color=BEST, linewidth=1.5)
    waiting = [c for c in step.bounds if c not in step.times]
    ax.plot([step.bounds[c] * MICRO for c in waiting], [low * 1.06] * len(waiting), "|", color=style.INK, markersize=13,
            markeredgewidth=1.2)
    if step.phase == "end":
        never = [c for c in waiting if c in found.all_times]
        ax.plot([step.bounds[c] * MICRO for c in never], [found.all_times[c] * MICRO for c in never], "o", markerfacecolor="none",
                color=style.GREY, markeredgewidth=1.5)
    for c, seconds in step.times.items():
        colour = BEST if c == best else NOW if c == step.now else style.BLUE
        ax.plot([step.bounds[c] * MICRO], [seconds * MICRO], "o", color=colour, markeredgecolor=style.INK,
                markersize=12 if c in (best, step.now) else 8)
    _legend(ax, step.phase == "end" and waiting)


def _legend(ax, never):
    dot: dict[str, Any] = {"marker": "o", "linestyle": "none"}
    shown = [Patch(color=DISCARDED, label="breaks a rule"), Patch(color=PRUNED, label="pruned: cannot win"),
             Patch(color=SLOW, label="tried"), Line2D([], [], color=NOW, markeredgecolor=style.INK, label="tried now", **dot),
             Line2D([], [], color=BEST, markeredgecolor=style.INK, label="the best so far", **dot)]
    if never:
        shown.append(Line2D([], [], color=style.GREY, markerfacecolor="none", label="never tried: its time", **dot))
    ax.figure.legend(handles=shown, loc="lower center", ncols=len(shown), fontsize=10, columnspacing=1.2, handletextpad=0.4)


def describe_search(found: "Search", index: int) -> str:
    """Return the alternative text of `search_step`.

    >>> from course_lib.bench.search import search
    >>> describe_search(search(1024), 0)
    'Step 1 of 23, N = 1024: 144 candidates. 144 open, 0 discarded, 0 pruned, 0 tried.'
    """
    step = found.steps[index]
    counts = len(step.discarded), len(step.pruned), len(step.times)
    best = ""
    if step.best:
        best = (" Best: " + ", ".join(f"{n} = {v}" for n, v in zip(found.names, step.best))
                + f" with {step.times[step.best] * MICRO:,.1f} µs, at least {step.bounds[step.best] * MICRO:,.1f} µs by the model.")
    return (f"Step {index + 1} of {len(found.steps)}, N = {found.N}: {step.words}. {len(found.candidates) - sum(counts)} open, "
            f"{counts[0]} discarded, {counts[1]} pruned, {counts[2]} tried.{best}")


def search_player(found: "Search", *, start: int = 0) -> Player:
    """Play the steps of a search for the fastest tiles.

    Parameters
    ----------
    found
        From `bench.search.search`.
    """
    return player(len(found.steps), lambda i: search_step(found, i), lambda i: describe_search(found, i), start=start)
