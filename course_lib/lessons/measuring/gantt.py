"""Gantt pictures of warps: who issues, who waits, and what the clock of a GPU saw."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from course_lib.errors import CourseError
from course_lib.model import Timeline
from course_lib.plots import style

MOST_ROWS = 64
GAP = "#BFDDF0"


@style.styled
def gantt(timeline: Timeline, ax: Axes | None = None, *, names: Sequence[str] | None = None, title: str | None = None,
          until: float | None = None) -> Axes:
    """Draw a row for each warp: its issues in full colour, the wait for each result pale; below, what the scheduler does.

    Parameters
    ----------
    timeline
        From `course_lib.model.timeline`.
    names
        What the steps are; steps of one name share a colour. Default: all one kind.
    until
        The last cycle drawn; default all.

    Returns
    -------
    Axes
        The scheduler's row is named "scheduler"; gaps there are marked "idle" in the legend.

    Raises
    ------
    CourseError
        For more than 64 warps, or names that are not as many as the steps.

    >>> from course_lib.model import timeline
    >>> ax = gantt(timeline(6, [(6, 36)] * 3))
    >>> [label.get_text() for label in ax.get_yticklabels()][-2:]
    ['warp 5', 'scheduler']
    """
    names = _checked(timeline.warps, names or ["instruction"] * len(timeline.steps), len(timeline.steps))
    ax = style.axes(ax, width=11.0, height=min(1.9 + 0.36 * (timeline.warps + 1), 6.2))
    kinds = {name: style.CYCLE[i % len(style.CYCLE)] for i, name in enumerate(dict.fromkeys(names))}
    last = until or timeline.cycles
    seen = [issue for issue in timeline.issues if issue.start < last]
    for row in range(timeline.warps + 1):              # the row after the last warp's is the scheduler's
        own = [issue for issue in seen if row in (issue.warp, timeline.warps)]
        if row < timeline.warps:
            waits = [(issue.end, min(issue.done, last) - min(issue.end, last)) for issue in own]
            ax.broken_barh(waits, (row - 0.3, 0.6), facecolors=[GAP] * len(own))
        wide = min((issue.end - issue.start for issue in own), default=0) > 0.006 * last      # else the edges would cover the bars
        ax.broken_barh([(issue.start, min(issue.end, last) - issue.start) for issue in own], (row - 0.4, 0.8),
                       facecolors=[kinds[names[issue.step]] for issue in own], edgecolors="white", linewidth=0.6 if wide else 0)
    gaps = [(start, min(end, last) - start) for start, end in timeline.idle if start < last]
    ax.broken_barh(gaps, (timeline.warps - 0.4, 0.8), facecolors="white", edgecolors=style.VERMILION, hatch="////", linewidth=1)
    shown = [Patch(color=colour, label=f"{name} issues") for name, colour in kinds.items()]
    shown.append(Patch(color=GAP, label="waits for its result"))
    if gaps:
        shown.append(Patch(facecolor="white", edgecolor=style.VERMILION, hatch="////", label="scheduler idle"))
    _finish(ax, [*(f"warp {w}" for w in range(timeline.warps)), "scheduler"], last, "cycles, modelled", shown)
    done = "the latency is hidden" if timeline.hidden else f"latency shows, the scheduler is busy {100 * timeline.busy:.0f} % of the time"
    ax.set_title(title or f"{timeline.warps} warp{'s' * (timeline.warps != 1)}: {done}")
    return ax


def describe_gantt(timeline: Timeline, *, names: Sequence[str] | None = None, busy: float | None = None) -> str:
    """Return the alternative text of `gantt`; with `busy`, 0 to 1, that share of a long time instead of the cycles drawn.

    >>> from course_lib.model import timeline
    >>> describe_gantt(timeline(2, [(6, 36)] * 3))
    'Gantt picture of 2 warps with 3 instructions each (6 cycles of issue, 36 until the result), modelled: \
the scheduler issues in 36 of 84 cycles and waits twice, 24 cycles at the longest.'
    """
    pairs = dict.fromkeys(zip(names or [""] * len(timeline.steps), timeline.steps))
    kinds = "; ".join(f"{name + ': ' if name else ''}{issue:g} cycle{'s' * (issue != 1)} of issue, {latency:g} until the result"
                      for name, (issue, latency) in pairs)
    longest = max((end - start for start, end in timeline.idle), default=0)
    issued = sum(i.end - i.start for i in timeline.issues)
    waits = f"waits {_times(len(timeline.idle))}, {longest:g} cycles at the longest"
    if timeline.hidden:
        waits = "never waits: the latency is hidden"
    when = f"{issued:g} of {timeline.issues[-1].end:g} cycles" if busy is None else f"{100 * busy:.0f} % of the time"
    return (f"Gantt picture of {timeline.warps} warp{'s' * (timeline.warps != 1)} with {len(timeline.steps)} instructions each ({kinds}), "
            f"modelled: the scheduler issues in {when} and {waits}.")


@style.styled
def clocks(bars: Sequence[Sequence[int]], ax: Axes | None = None, *, unit: str = "cycles", label: str = "",
           title: str | None = None) -> Axes:
    """Draw what the clocks of a microbenchmark said: a bar for each warp from its first reading to its second.

    Parameters
    ----------
    bars
        (warp, begin, end):
        `MicroResult.gantt()`, or "gantt" of a row of `course_lib.data.readings("micro")`.
    unit
        Of the clock: `MicroResult.clock`.
    label
        Where the figures are from: `Readings.label`.

    >>> len(clocks([(0, 0, 552), (1, 39, 559)]).patches)
    2
    """
    if not bars:
        raise CourseError("there are no clocks to draw: this row was recorded without them", bars=bars)
    _checked(len(bars), (), 0)
    ax = style.axes(ax, width=11.0, height=min(1.9 + 0.3 * len(bars), 5.6))
    ax.barh(range(len(bars)), [end - begin for _, begin, end in bars], left=[begin for _, begin, _ in bars], height=0.7, color=style.BLUE)
    for row, (_, begin, end) in enumerate(bars):
        ax.text((begin + end) / 2, row, f"{end - begin:,}", ha="center", va="center", color=style.text_on(style.BLUE), fontsize=11)
    words = f"{unit} from the first reading" + (f"\n{label}" if label else "")
    _finish(ax, [f"warp {warp}" for warp, _, _ in bars], max(end for _, _, end in bars), words, ())
    ax.set_title(title or f"{len(bars)} warps between their two readings of the clock")
    return ax


def describe_clocks(bars: Sequence[Sequence[int]], *, unit: str = "cycles", label: str = "") -> str:
    """Return the alternative text of `clocks`.

    >>> describe_clocks([(0, 0, 552), (1, 39, 559)], label="recorded on a GPU")
    'Bars of 2 warps, recorded on a GPU: they begin within 39 cycles of each other, take 520 to 552, and all end by 559.'
    """
    took = [end - begin for _, begin, end in bars]
    return (f"Bars of {len(bars)} warps{f', {label}' * bool(label)}: they begin within {max(b for _, b, _ in bars)} {unit} of each other, "
            f"take {min(took)} to {max(took)}, and all end by {max(e for _, _, e in bars)}.")


def _times(n):
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _checked(rows, names, steps):
    if rows > MOST_ROWS:
        raise CourseError(f"{rows} warps are too many rows to read: draw up to {MOST_ROWS}", rows=rows)
    if len(names) != steps:
        raise CourseError(f"{len(names)} names for {steps} steps: name each step of a warp", names=tuple(names))
    return names


def _finish(ax, rows, last, xlabel, shown):
    """Set the axes that both pictures share."""
    ax.set_yticks(range(len(rows)), rows, fontsize=12 if len(rows) < 20 else 10)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, last)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.set_axisbelow(True)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set_xlabel(xlabel)
    if shown:
        style.legend_beside(ax, shown)
