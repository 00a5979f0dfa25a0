"""Interval analysis in two panels: one thread's interval on a time line for several N, and the threads that an SM then needs."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from course_lib.plots import style

Span = tuple[str, int, int]           # what a thread does, from which cycle to which

COLOURS = {"loads": style.ORANGE, "waits": "#CFCFCF", "multiply-adds": style.BLUE, "stores": style.GREEN}


@style.styled
def draw_intervals(lines: Mapping[int, Sequence[Span]], chosen: int, threads: Mapping[str, Mapping[int, float]], resident: int, *,
                   title: str) -> Figure:
    """Draw time lines, one N in full colour, and the threads needed over N.

    Parameters
    ----------
    lines
        By N, from `model.interval.spans`.
    chosen
        The N that is meant.
    threads
        By what is to be saturated, then by N: threads of an SM.
    resident
        The most threads that an SM holds.

    Returns
    -------
    Figure
        Its Axes: time lines, threads.
    """
    figure = Figure(figsize=(10.6, 4.2), dpi=style.DPI)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.085, right=0.985, bottom=0.3, top=0.84, wspace=0.26)
    first, second = figure.subplots(1, 2, width_ratios=(1.3, 1))
    _time_lines(first, lines, chosen)
    _threads(second, threads, chosen, resident)
    figure.suptitle(title, x=0.01, y=0.985, ha="left", va="top", fontsize=15)
    return figure


def _time_lines(ax, lines, chosen):
    for row, (n, pieces) in enumerate(lines.items()):
        for kind, colour in COLOURS.items():                 # one call for all pieces of a kind: hundreds of calls are slow
            ax.broken_barh([(start, end - start) for what, start, end in pieces if what == kind], (row - 0.36, 0.72), facecolors=colour,
                           alpha=1 if n == chosen else 0.35)
        end = pieces[-1][2]
        ax.annotate(f"{end:,}", (end, row), textcoords="offset points", xytext=(5, 0), va="center", fontsize=12,
                    weight="bold" if n == chosen else "normal")
    ax.set_yticks(range(len(lines)), [f"N = {n}" for n in lines], fontsize=12)
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.set_xlim(0, 1.15 * max(pieces[-1][2] for pieces in lines.values()))
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set_xlabel("cycles of one interval, modelled")
    ax.legend(handles=[Patch(facecolor=colour, edgecolor=style.GREY, label=what) for what, colour in COLOURS.items()],
              loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=4, fontsize=11, columnspacing=1, handlelength=1.2)


def _threads(ax, threads, chosen, resident):
    for i, (what, found) in enumerate(threads.items()):
        ax.plot(list(found), list(found.values()), color=style.CYCLE[i], linestyle="-" if i == 0 else "--", label=what)
        ax.plot([chosen], [found[chosen]], marker=style.marker(i), markersize=11, color=style.CYCLE[i], markeredgecolor=style.INK)
        ax.annotate(f"{found[chosen]:,.0f}", (chosen, found[chosen]), textcoords="offset points", xytext=(8, 7), fontsize=12)
    first = next(iter(threads.values()))
    fewest = min(first, key=first.get)
    if min(first) < fewest < max(first) and first[fewest] < 0.95 * first[min(first)]:
        ax.axvline(fewest, color=style.GREY, linewidth=1.2, label=f"fewest at N = {fewest}")
    ax.axhline(resident, color=style.GREY, linestyle=":", linewidth=1.8, label=f"an SM holds {resident:,}")
    ax.set_yscale("log", base=2)
    top = max(resident, *(max(found.values()) for found in threads.values()))
    low = min(min(found.values()) for found in threads.values())
    ticks = 2.0 ** np.arange(np.floor(np.log2(low)), np.ceil(np.log2(top)) + 1)
    ax.set_yticks(ticks[::2], [f"{t:,.0f}" for t in ticks[::2]])
    ax.set_ylim(ticks[0], ticks[-1] * 1.3)
    ax.minorticks_off()
    ax.grid(axis="y")
    ax.set(xlabel="N = M", ylabel="threads of an SM")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2, fontsize=11, columnspacing=1)


def describe_intervals(lines: Mapping[int, Sequence[Span]], chosen: int, threads: Mapping[str, Mapping[int, float]], resident: int) -> str:
    """Return the alternative text of `draw_intervals`.

    >>> describe_intervals({16: [("loads", 0, 32), ("waits", 32, 400), ("multiply-adds", 400, 656), ("stores", 656, 672)]}, 16,
    ...                    {"bandwidth": {16: 48.4}}, 2048)
    'Interval of a thread at N = 16: 672 cycles, 32 for loads, 368 for waits, 256 for multiply-adds, 16 for stores. N = 16: 672 cycles. \
Threads of an SM needed at N = 16, of 2,048: bandwidth 48.'
    """
    spent = dict.fromkeys(COLOURS, 0)
    for what, start, end in lines[chosen]:
        spent[what] += end - start
    shares = ", ".join(f"{cycles:,} for {what}" for what, cycles in spent.items())
    ends = "; ".join(f"N = {n}: {pieces[-1][2]:,} cycles" for n, pieces in lines.items())
    needed = ", ".join(f"{what} {found[chosen]:,.0f}" for what, found in threads.items())
    return (f"Interval of a thread at N = {chosen}: {lines[chosen][-1][2]:,} cycles, {shares}. {ends}. "
            f"Threads of an SM needed at N = {chosen}, of {resident:,}: {needed}.")
