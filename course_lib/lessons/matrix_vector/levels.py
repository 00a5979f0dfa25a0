"""How often the wanted bytes of a launch pass each level of the memory, as Nsight Compute counted it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.model.matvec import SECTOR, times_wanted
from course_lib.plots import style
from course_lib.run.table import Table

LEVELS = ("asked for by the kernel", "between L1 and L2", "between L2 and DRAM")
KINDS = {"read": "reads", "write": "writes"}
COLOURS = (style.SKY, style.BLUE, style.INK)


@style.styled
def level_bars(rows: Sequence[Mapping[str, Any]], *, title: str = "", width: float = 12.6, height: float = 5.2) -> Axes:
    """Draw, for each kernel, how often the wanted bytes pass each level: reads on the left, writes on the right.

    Parameters
    ----------
    rows
        Of `course_lib.data.readings("vectors")`, one for each kernel.

    Returns
    -------
    Axes
        The one of the reads; that of the writes is in its figure.
    """
    first = style.axes(width=width, height=height)
    figure = first.figure
    first.remove()
    at = np.arange(len(rows))
    panels = figure.subplots(1, 2, sharey=True)
    for ax, (kind, plural) in zip(panels, KINDS.items(), strict=True):
        for level, name in enumerate(LEVELS):
            values = [times_wanted(row)[kind][level] for row in rows]
            drawn = ax.barh(at + 0.27 * (level - 1), values, height=0.26, color=COLOURS[level], label=name)
            for text in ax.bar_label(drawn, [f"{value:.1f}" for value in values], padding=3, fontsize=10):
                text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
        ax.axvline(1, color=style.GREY, linestyle="--", linewidth=1, zorder=0.5)
        ax.set(title=f"{plural}: times the wanted bytes", xlim=(0, 9))
        ax.title.set_fontsize(14)
        ax.tick_params(axis="y", length=0)
    panels[0].set_yticks(at, [row["kernel"] for row in rows], fontsize=12)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=12, title=title or None)
    return panels[0]


def level_table(rows: Iterable[Mapping[str, Any]], caption: str = "") -> Table:
    """Return the numbers of `level_bars` as a Table."""
    header = ["kernel", *(what for plural in KINDS.values() for what in (f"{plural}: asked", "L2", "DRAM"))]
    numbers = [(row["kernel"], *(f"{times:.2f}" for kind in KINDS for times in times_wanted(row)[kind])) for row in rows]
    return Table(header, numbers, caption)


def describe_levels(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the alternative text of `level_bars`."""
    words = []
    for row in rows:
        found = {kind: " → ".join(f"{times:.1f}" for times in levels) for kind, levels in times_wanted(row).items()}
        words.append(f"{row['kernel']} reads {found['read']}, writes {found['write']}")
    return f"Times the wanted bytes, asked for → L2 → DRAM: {'; '.join(words)}."


def l2_write_rates(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[int, tuple[float, float, float]]]:
    """Return kernel -> {warps: (10^6 sectors written to the L2, microseconds, 10^9 bytes a second)}."""
    found: dict[str, dict[int, tuple[float, float, float]]] = {}
    for row in rows:
        sectors, ns = row["l2_sectors_written"], row["nanoseconds"]
        found.setdefault(row["kernel"], {})[row["warps"]] = (sectors / 1e6, ns / 1e3, SECTOR * sectors / ns)
    return found


@style.styled
def time_by_sectors(rows: Iterable[Mapping[str, Any]], rate_gb_s: float, ax: Axes | None = None, *, title: str | None = None,
                    note: str = "") -> Axes:
    """Draw the time of each launch over the sectors that it writes to the L2, and the line of a constant rate.

    Parameters
    ----------
    rows
        Of `course_lib.data.readings("vectors")`.
    rate_gb_s
        Of the line.
    """
    ax = style.axes(ax, width=11.0, height=4.4)
    found = l2_write_rates(rows)
    for i, (name, line) in enumerate(found.items()):
        xs, ys = zip(*((sectors, us) for sectors, us, _ in line.values()), strict=True)
        ax.plot(xs, ys, linestyle="none", marker=style.marker(i), color=style.CYCLE[i % len(style.CYCLE)], markeredgecolor=style.INK,
                markeredgewidth=0.6, label=name)
        few = min(line)
        ax.annotate(f"{few} warps", line[few][:2], xytext=(0, 8), textcoords="offset points", ha="center", fontsize=11)
    most = max(sectors for line in found.values() for sectors, *_ in line.values())
    ax.plot([0, most], [0, most * 1e6 * SECTOR / rate_gb_s / 1e3], linestyle="--", color=style.GREY, zorder=0.5,
            label=f"{rate_gb_s:,.0f} GB/s")
    ax.set(xlabel=f"10⁶ sectors written to the L2{note and chr(10) + note}", ylabel="µs", title=title or "")
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    style.legend_beside(ax)
    return ax


def describe_time_by_sectors(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the alternative text of `time_by_sectors`: each kernel's fewest and most sectors with their times."""
    words = []
    for name, line in l2_write_rates(rows).items():
        low, high = min(line.values()), max(line.values())
        words.append(f"{name} {low[1]:,.0f} µs with {low[0]:.1f} and {high[1]:,.0f} µs with {high[0]:.1f}")
    return f"Time over million sectors written to the L2: {'; '.join(words)}."
