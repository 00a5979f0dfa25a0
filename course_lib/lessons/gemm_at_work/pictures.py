"""Training runs as pictures: the loss step by step, iterations a second as bars, and what a step costs as a table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run.table import Table
from course_lib.training import StepCost

SMOOTH = 10         # steps that a drawn loss is the mean of
DASHES = ("-", "--", ":", "-.")


def smooth(losses: Sequence[float], steps: int = SMOOTH) -> NDArray[np.float64]:
    """Return the means of the last `steps` losses; the first of them are means of fewer.

    >>> smooth([4.0, 2.0, 3.0], steps=2).tolist()
    [4.0, 3.0, 2.5]
    """
    total = np.cumsum(np.concatenate([[0.0], losses]))
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(ends - steps, 0)
    return (total[ends] - total[starts]) / (ends - starts)


@style.styled
def losses(runs: Mapping[str, Sequence[float]], ax: Axes | None = None, *, title: str | None = None, note: str | None = None) -> Axes:
    """Draw the loss of each run over its steps, each point the mean of ten steps.

    Runs that agree lie on each other: each is drawn thinner than the one before and with other dashes, so that all are seen.

    Parameters
    ----------
    runs
        By label, the losses of every step.
    title, note
        `note` is a line of small type below the axis.
    """
    _some(runs)
    ax = style.axes(ax, width=9.0, height=4.8)
    widths = np.linspace(8.0, 2.0, len(runs)) if len(runs) > 1 else [2.5]
    for i, (label, values) in enumerate(runs.items()):
        ax.plot(np.arange(1, len(values) + 1), smooth(values), color=style.CYCLE[i % len(style.CYCLE)], linewidth=widths[i],
                linestyle=DASHES[i % len(DASHES)], label=label)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set(xlabel="step" + (f"\n{note}" if note else ""), ylabel=f"loss, mean of {SMOOTH} steps", title=title or "")
    ax.legend()
    return ax


def describe_losses(runs: Mapping[str, Sequence[float]], note: str | None = None, digits: int | None = None) -> str:
    """Return the alternative text of `losses`: where each begins and ends, and how far they lie apart.

    `digits` are those to which the runs were written down: one unit in the last of them is no distance.
    """
    _some(runs)
    words = [f"{label} from {smooth(values)[0]:.2f} to {smooth(values)[-1]:.2f} in {len(values)} steps" for label, values in runs.items()]
    text = f"Curves of the loss{f', {note}' * bool(note)}: {'; '.join(words)}."
    if len(runs) < 2 or len({len(values) for values in runs.values()}) > 1:
        return text
    together = np.array(list(runs.values()))
    if digits and np.all(np.ptp(together, axis=0) < 1.001 * 10.0 ** (np.floor(np.log10(together.min(axis=0))) + 1 - digits)):
        return text + f" Step by step they differ by one in the last of the {digits} digits recorded at most."
    return text + f" Step by step they are at most {np.max(np.ptp(together, axis=0)):.1e} apart."


@style.styled
def iterations(rows: Iterable[Mapping[str, Any]], *, title: str | None = None, note: str | None = None, width: float = 9.0,
               height: float = 4.6) -> Axes:
    """Draw iterations a second as bars: a panel for each network and batch, from 0, and in it a bar for each method of multiplying.

    Parameters
    ----------
    rows
        Speeds of a recording (`readings("training").find(what="speed", graph=True)`), or of your own:
        products, hidden, batch, per_s, low, high, and backend where both kinds are among them.
    width, height
        Inches.

    Returns
    -------
    Axes
        The first panel; each has its own scale. Lines at the ends of bars are quartiles.
    """
    groups, names, values = _grouped(rows)
    first = style.axes(width=width, height=height)
    figure = first.figure
    first.remove()
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for ax, (hidden, batch) in zip(panels, groups, strict=True):
        for i, name in enumerate(names):
            if row := values.get(((hidden, batch), name)):
                spread = [[row["per_s"] - row["low"]], [row["high"] - row["per_s"]]]
                bars = ax.bar([i], [row["per_s"]], 0.92, yerr=spread, color=style.CYCLE[i], error_kw={"ecolor": style.INK})
                ax.bar_label(bars, [f"{row['per_s']:,.0f}"], padding=3, fontsize=11)
        ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 1.12 * ax.dataLim.ymax), xlabel=f"{hidden} hidden,\nbatch of {batch}")
        ax.set_xticks([])
        ax.locator_params(axis="y", nbins=5)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    panels[0].set(ylabel="iterations a second", title=title or "")
    figure.legend([Patch(color=style.CYCLE[i]) for i in range(len(names))], names, loc="outside lower center", ncols=len(names),
                  fontsize=13, title=note)
    return panels[0]


def iterations_table(rows: Iterable[Mapping[str, Any]], caption: str = "") -> Table:
    """Return the numbers of `iterations`: a row for each network and batch, a column for each method of multiplying."""
    groups, names, values = _grouped(rows)
    lines = [(f"{hidden} hidden, batch of {batch}",
              *(f"{values[(hidden, batch), name]['per_s']:,.0f}" if ((hidden, batch), name) in values else "" for name in names))
             for hidden, batch in groups]
    return Table(("iterations a second", *names), lines, caption)


def describe_iterations(rows: Iterable[Mapping[str, Any]], note: str | None = None) -> str:
    """Return the alternative text of `iterations`."""
    groups, names, values = _grouped(rows)
    words = [f"with {hidden} hidden neurons and batches of {batch} "
             + ", ".join(f"{name} {values[(hidden, batch), name]['per_s']:,.0f}" for name in names if ((hidden, batch), name) in values)
             for hidden, batch in groups]
    return f"Bars of iterations a second{f', {note}' * bool(note)}: {'; '.join(words)}."


def _grouped(rows):
    """Return the (hidden, batch) in their order, the names of the bars, and the row of each."""
    rows = list(rows)
    _some(rows)
    several = len({row.get("backend") for row in rows}) > 1     # then a name says where
    groups, names, values = [], [], {}
    for row in rows:
        group, name = (row["hidden"], row["batch"]), f"{row['products']} ({row['backend'].upper()})" if several else row["products"]
        if (group, name) in values:
            raise CourseError(f"{name} has two speeds with {group[0]} hidden neurons and batches of {group[1]}: "
                              "choose those with a graph or those without")
        values[group, name] = row
        groups += [group] * (group not in groups)
        names += [name] * (name not in names)
    return groups, names, values


def _some(found):
    if not found:
        raise CourseError("there is no training run to show")


def step_table(costs: Sequence[StepCost]) -> Table:
    """Return a table of one step's products: kernels and global sectors of each, a pair of columns for each `StepCost`."""
    header = ["product"] + [f"{cost.products}: {what}" for cost in costs for what in ("kernels", "sectors")]
    found = [cost.rows() for cost in costs]
    lines = [(rows[0][0], *(cell for _, kernels, load, store in rows for cell in (kernels.count("+") + 1, f"{load + store:,}")))
             for rows in zip(*found, strict=True)]
    lines.append(("the step", *(cell for cost in costs for cell in (cost.kernels, f"{cost.count('sectors'):,}"))))
    return Table(header, lines, "Global sectors, loads and stores, simulated", marked=(len(lines) - 1,))
