"""Bars for a ladder of kernels, lines for a counter against a parameter."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from course_lib.plots import style


@style.styled
def bars(values: Mapping[str, float], ax: Axes | None = None, *, unit: str, title: str | None = None, note: str | None = None,
         digits: int = 3) -> Axes:
    """Draw one horizontal bar per entry, its value beside it, in the order given from top to bottom.

    Parameters
    ----------
    values
        By label.
    unit
        On the axis, with where the numbers are from ("GFLOP/s, recorded on …").
    title, note
        `note` is a line of small type below the axis.
    digits
        Significant digits of the printed values.

    >>> [t.get_text() for t in bars({"naive": 10.0, "tiled": 25.0}, unit="GFLOP/s").texts]
    ['10', '25']
    """
    ax = style.axes(ax, width=9.0, height=1.8 + 0.62 * len(values))
    at, numbers = np.arange(len(values)), list(values.values())
    drawn = ax.barh(at, numbers, color=[style.CYCLE[i % len(style.CYCLE)] for i in at], height=0.68)
    ax.bar_label(drawn, [_number(v, digits) for v in numbers], padding=5, fontsize=13)
    ax.set_yticks(at, list(values), fontsize=13)
    ax.invert_yaxis()
    ax.margins(x=0.14)
    ax.set(xlabel=unit + (f"\n{note}" if note else ""), title=title or "")
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    return ax


@style.styled
def lines(x: Sequence[float], series: Mapping[str, Sequence[float]], ax: Axes | None = None, *, xlabel: str, ylabel: str,
          predicted: Mapping[str, Sequence[float]] | None = None, title: str | None = None, log: bool = False,
          note: str | None = None) -> Axes:
    """Draw counters against a parameter: markers for what was counted, dashed or dotted curves for what was predicted.

    Parameters
    ----------
    x
        The parameter's values, shown as ticks.
    series, predicted
        By label as many numbers as `x`; `predicted` may be left out.
    log
        Base-2 logarithmic axes: halving shows as a straight line.
    """
    ax = style.axes(ax, width=9.0, height=4.8)
    paired = len(series) == len(predicted or ()) > 1                 # then each curve has the colour of its markers
    for i, (label, values) in enumerate((predicted or {}).items()):
        colour, dashes = (style.CYCLE[i], "--") if paired else (style.GREY, ("--", ":", "-.")[i % 3])
        ax.plot(x, values, linestyle=dashes, color=colour, label=label, zorder=1)
    for i, (label, values) in enumerate(series.items()):
        ax.plot(x, values, linestyle="none" if predicted else "-", marker=style.MARKERS[i], color=style.CYCLE[i],
                label=label, zorder=2, clip_on=False)
    if log:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
    ax.set_xticks(x, [_number(v, 4) for v in x])
    ax.minorticks_off()
    if log:
        low, high = ax.get_ylim()
        ticks = 2.0 ** np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
        ax.set_yticks(ticks, [_number(t, 3) if t >= 1 else f"1/{round(1 / t):,}" for t in ticks])
    ax.grid(axis="y")
    ax.set(xlabel=xlabel + (f"\n{note}" if note else ""), ylabel=ylabel, title=title or "")
    ax.legend(frameon=True, framealpha=1, edgecolor="none")          # no line of the grid runs through the words
    return ax


def _number(value, digits):
    """Write a number with `digits` significant digits and no exponent.

    >>> _number(0.0312499, 3), _number(12345.6, 3), _number(8, 4)
    ('0.0312', '12,346', '8')
    """
    if value == int(value):
        return f"{int(value):,}"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:,.0f}"
