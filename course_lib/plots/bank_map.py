"""The same access as `bank_grid` draws, small: its pattern over the banks, and a bar for the words that each bank has to find."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.arch import BANKS, WARP
from course_lib.plots import style
from course_lib.plots.banks import bank_services, colour_of, counted, degrees_of, rows_of, words_in
from course_lib.plots.lane_labels import LEGIBLE, name_lanes
from course_lib.simt.report import TraceRecord

GAP = 1.5                  # banks between two half-warps
BARS, ABOVE = 0.30, 0.09    # height of the longest bar below, and of what is above it, as shares of the rows
HIGH = 0.7                 # share of the figure's height that rows and bars take
PIXEL = 72 / style.DPI     # the width of a line, in points


def words_a_bank(record: TraceRecord, banks: int = BANKS) -> tuple[tuple[int, ...], ...]:
    """Return how many different words an access wants of each bank: a tuple for each group that `bank_services` gives.

    >>> from types import SimpleNamespace
    >>> row = SimpleNamespace(addresses=np.arange(32) * 8, width=4, space="shared", operation="ld.shared.f32", line=1)
    >>> words_a_bank(row)[0][:4]
    (2, 0, 2, 0)
    """
    return tuple(tuple(max((s.words_in_bank for s in group if s.word % banks == bank), default=0) for bank in range(banks))
                 for group in bank_services(record, banks))


@style.styled
def bank_map(record: TraceRecord, ax: Axes | None = None, *, banks: int = BANKS, title: str | None = None) -> Axes:
    """Draw which words of shared memory an access wants, a column per bank, and below it a bar for each bank.

    Parameters
    ----------
    record
        Of one load from or store to shared memory.
    banks
        32 or 16, as for `bank_grid`.

    Returns
    -------
    Axes
        With a rectangle for each word, then one for each bar. The longest bar says how many wavefronts the access takes.

    Raises
    ------
    CourseError
        As `bank_services`.
    """
    groups = bank_services(record, banks)
    rows = rows_of(sorted({s.word // banks for group in groups for s in group}))
    ax = style.axes(ax, width=6.6, height=4.4)
    bottom = bottom_of(len(rows))
    ticks = []
    for g, (group, counts) in enumerate(zip(groups, words_a_bank(record, banks), strict=True)):
        left = g * (banks + GAP)
        ticks += [(left + bank, bank) for bank in range(0, banks, 4 if banks == BANKS else 5)]
        _words(ax, group, rows, banks, left, style.figure_of(ax).get_size_inches()[1] * HIGH / bottom > LEGIBLE)
        _bars(ax, counts, left, bottom, BARS * len(rows) / (WARP if banks == BANKS else banks))
    right = len(groups) * banks + (len(groups) - 1) * GAP - 0.5
    ax.set_xticks([x for x, _ in ticks], [str(bank) for _, bank in ticks], fontsize=11)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    step = -(-len(rows) // 8)
    ax.set_yticks(range(0, len(rows), step), [words_in(rows[y], banks) for y in range(0, len(rows), step)], fontsize=11)
    ax.tick_params(length=0)
    heading = "bank" if banks == BANKS else "bank: first half-warp, second half-warp"
    ax.set(xlim=(-0.5, right), ylim=(bottom + 0.01 * len(rows), -0.5), xlabel=heading, title=title or _title(record, banks))
    ax.set_ylabel("words", y=1 - 0.5 * len(rows) / bottom)
    ax.text(-0.9, bottom, "words\nof the bank", ha="right", va="bottom", fontsize=10)
    ax.spines[:].set_visible(False)
    names = [(b, f"{n} word{'s' * (n != '1')} of a bank") for b, n in degrees_of(groups)]
    handles = [Patch(color=_colour(b), label=words) for b, words in names]
    if any(len(s.lanes) > 1 for group in groups for s in group):
        handles.append(Patch(facecolor="white", edgecolor=style.INK, linewidth=1.5, label="several lanes, one word"))
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, fontsize=11)
    return ax


def bottom_of(rows: int) -> float:
    """Return where the bars below so many rows stand, in rows from the top; the number on the longest one fits above it."""
    return rows * (1 + BARS + ABOVE)


def _colour(degree):
    return style.SKY if degree == 1 else colour_of(degree)     # small areas on a projector: pale ones would vanish


def _title(record, banks):
    return f"line {record.line}: {counted(record, banks)}"


def _words(ax, group, rows, banks, left, legible):
    """Draw the grid of one group, and a rectangle for each word that is wanted, with its lane's number where that is legible.

    A line of one pixel separates a word from the one above it: gaps between rectangles would be rounded away here and there.
    """
    ax.vlines(np.arange(banks + 1) + left - 0.5, -0.5, len(rows) - 0.5, colors="#E2E2E2", linewidths=0.6)
    ax.hlines([-0.5, len(rows) - 0.5], left - 0.5, left + banks - 0.5, colors=style.GREY, linewidths=0.8)
    cells: dict[int, tuple[tuple[int, ...], int]] = {}
    for s in group:
        lanes, degree = cells.get(s.word, ((), 0))
        cells[s.word] = (lanes + s.lanes, max(degree, s.words_in_bank))
    for word, (lanes, degree) in cells.items():
        x, y, colour = left + word % banks, rows.index(word // banks), _colour(degree)
        shared = len(lanes) > 1
        inset = 0.02 if shared else 0
        ax.add_patch(Rectangle((x - 0.48, y - 0.5 + inset), 0.96, 1 - 2 * inset, facecolor=colour, linewidth=1.5 if shared else 0,
                               edgecolor=style.INK if shared else colour))
        if legible and not shared:
            ax.text(x, y, str(lanes[0]), ha="center", va="center", fontsize=min(7.5, 250 / len(rows)),
                    color=style.text_on(colour))
    cells_at = {(left + word % banks, rows.index(word // banks)) for word in cells}
    below = [(x, y) for x, y in sorted(cells_at) if (x, y - 1) in cells_at]
    ax.hlines([y - 0.5 for _, y in below], [x - 0.48 for x, _ in below], [x + 0.48 for x, _ in below], colors="white", linewidths=PIXEL)
    if not legible:
        name_lanes(ax, {(left + w % banks, rows.index(w // banks)): sorted(set(lanes)) for w, (lanes, _) in cells.items()}, len(rows))


def _bars(ax, counts, left, bottom, unit):
    """Draw how many words each bank has, up to the size of a warp."""
    ax.hlines(bottom, left - 0.5, left + len(counts) - 0.5, colors=style.GREY, linewidths=0.8)
    for bank, words in enumerate(counts):
        if not words:
            continue
        ax.add_patch(Rectangle((left + bank - 0.4, bottom - unit * words), 0.8, unit * words, facecolor=_colour(words), linewidth=0))
        ax.text(left + bank, bottom - unit * words, str(words), ha="center", va="bottom", fontsize=10 if words > 1 else 8,
                weight="bold" if words > 1 else "normal")
