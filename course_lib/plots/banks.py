"""Picture of one warp's access to shared memory: 32 lanes over 32 banks, or over 16 as before Fermi."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.arch import BANK_BYTES, BANKS, WARP
from course_lib.errors import CourseError
from course_lib.model.banks import Service, services
from course_lib.model.old_banks import OLD_BANKS, half_warp_steps
from course_lib.model.segments import HALF_WARP
from course_lib.plots import style
from course_lib.plots.accesses import FETCHED, words_of
from course_lib.plots.lane_labels import LEGIBLE, name_lanes
from course_lib.run.traces import is_load
from course_lib.simt.report import TraceRecord

# Up to so many different words of one bank: this colour, darker the more. None is pale: it would vanish on white paper, which a
# picture with the darkest of them has in every theme (`themes`).
DEGREES = {1: FETCHED, 2: "#DC7A00", 4: "#C85A00", 8: "#B04A00", 16: "#8A3200", 32: "#5F1A00"}
WIDE = 11.0                # inches, for letters at their full size; a narrower figure gets smaller ones
GAP = 1.5                  # banks between two half-warps


def bank_services(record: TraceRecord, banks: int = BANKS) -> tuple[tuple[Service, ...], ...]:
    """Return what an access to shared memory wants of each bank: a tuple of `Service` for each group drawn side by side.

    With 32 banks one group, with 16 (before Fermi) one for each half-warp; their wavefronts are 0, for no rule says which
    word is broadcast first.

    Raises
    ------
    CourseError
        For another number of banks, global memory, or more than 32 bits a lane with 16 banks.
    """
    addresses = np.asarray(record.addresses)
    active = addresses >= 0
    if record.space != "shared":
        raise CourseError(f"line {record.line} accesses {record.space} memory: only shared memory has banks; take lane_sectors")
    if banks == BANKS:
        return (services(addresses, record.width, active, "load" if is_load(record) else "store"),)
    if banks != OLD_BANKS:
        raise CourseError(f"banks = {banks}: shared memory has 32 banks, and had 16 before Fermi", banks=banks)
    if record.width != BANK_BYTES:
        raise CourseError(f"line {record.line} moves {8 * record.width} bits a lane: with 16 banks only accesses of 32 bits are drawn")
    halves = []
    for half in range(WARP // HALF_WARP):
        lanes = [lane for lane in range(half * HALF_WARP, (half + 1) * HALF_WARP) if active[lane]]
        wanted = {int(word): tuple(lane for lane in lanes if addresses[lane] // BANK_BYTES == word)
                  for word in np.unique(addresses[lanes] // BANK_BYTES)}
        busy = np.bincount([word % OLD_BANKS for word in wanted], minlength=OLD_BANKS)
        halves.append(tuple(Service(word, who, 0, int(busy[word % OLD_BANKS])) for word, who in wanted.items()))
    return tuple(halves)


def bank_counts(record: TraceRecord, banks: int = BANKS) -> tuple[int, ...]:
    """Return the wavefronts of an access with 32 banks, (one number,), or the steps of each half-warp with 16.

    >>> from types import SimpleNamespace
    >>> column = SimpleNamespace(addresses=np.arange(32) * 64, width=4, space="shared", operation="ld.shared.f32", line=1)
    >>> bank_counts(column), bank_counts(column, 16)
    ((16,), (16, 16))
    """
    groups = bank_services(record, banks)
    if banks == BANKS:
        return (max((s.wavefront for s in groups[0]), default=0),)
    addresses = np.asarray(record.addresses)
    return half_warp_steps(addresses, addresses >= 0)


@style.styled
def bank_grid(record: TraceRecord, ax: Axes | None = None, *, banks: int = BANKS, title: str | None = None) -> Axes:
    """Draw one access to shared memory: a column per bank, a row per line of words, the lanes on the words that they want.

    The colour says how many different words the lanes want of that bank (for 64 and 128 bits: lanes that are served together);
    a thick frame that several lanes want one word, which is broadcast. On the right: the wavefronts that serve the row.

    Parameters
    ----------
    record
        Of one load from or store to shared memory.
    banks
        32, or 16: CC 1.x, where each half-warp (left and right) is served by itself, as on Lee's slide. 32 bits a lane only.

    Raises
    ------
    CourseError
        As `bank_services`.
    """
    groups = bank_services(record, banks)
    rows = rows_of(sorted({s.word // banks for group in groups for s in group}))
    tall = min(0.42, max(0.21, 3.2 / len(rows)))          # inches a row
    ax = style.axes(ax, width=WIDE, height=2.1 + tall * max(len(rows), 2))
    wide, high = style.figure_of(ax).get_size_inches()
    scale, tall = min(1.0, wide / WIDE), (high - 2.1) / len(rows)
    for g, group in enumerate(groups):
        _group(ax, group, rows, banks, g * (banks + GAP), tall, scale)
    right = len(groups) * banks + (len(groups) - 1) * GAP
    small = 11 * scale**0.7
    if banks == BANKS:
        for y, row in enumerate(rows):
            fronts = sorted({s.wavefront for s in groups[0] if s.word // banks == row})
            ax.text(right - 0.2, y, _ranges(fronts), va="center", fontsize=small if tall > 0.16 else 7)
        ax.text(right - 0.2, -0.8, "wave-\nfront", fontsize=small, va="bottom")
    step = 1 if scale > 0.8 else 4
    columns = [(g * (banks + GAP) + b, b) for g in range(len(groups)) for b in range(0, banks, step)]
    ax.set_xticks([x for x, _ in columns], [str(b) for _, b in columns], fontsize=small)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    every = -(-len(rows) // 17)
    ax.set_yticks(range(0, len(rows), every), [words_in(rows[y], banks) for y in range(0, len(rows), every)], fontsize=small)
    ax.tick_params(length=0)
    ax.set(xlim=(-0.5, right + 1.3), ylim=(len(rows) + 0.6, -0.5), xlabel=_heading(banks, scale),
           ylabel="words",
           title=title or f"{record.operation}, line {record.line}: {counted(record, banks)}")
    ax.spines[:].set_visible(False)
    _legend(ax, groups, scale, "in a cell" if tall >= LEGIBLE else "beside the words")
    return ax


def _heading(banks, scale):
    if banks == BANKS:
        return "bank"
    return (16 * " ").join(f"bank, lanes {lanes}" if scale < 0.8 else f"bank, {which} half-warp (lanes {lanes})"
                           for which, lanes in (("first", "0 to 15"), ("second", "16 to 31")))


def rows_of(touched: list[int]) -> list[int]:
    """Return the rows to draw: all from the first to the last, or only the touched ones where that would be too many.

    >>> rows_of([3, 5]), rows_of([0, 500])
    ([3, 4, 5], [0, 500])
    """
    if not touched:
        return [0]
    whole = list(range(touched[0], touched[-1] + 1))
    return whole if len(whole) <= max(8, len(touched) + 4) else touched


def words_in(row: int, banks: int = BANKS) -> str:
    """Return which words lie side by side in the banks.

    >>> words_in(1)
    '32–63'
    """
    return f"{row * banks:,}–{row * banks + banks - 1:,}"


def _group(ax, group, rows, banks, left, tall, scale):
    """Draw the grid of one group, its words, and below how many each bank has."""
    ax.vlines(np.arange(banks + 1) + left - 0.5, -0.5, len(rows) - 0.5, colors="#D0D0D0", linewidths=0.8)
    ax.hlines(np.arange(len(rows) + 1) - 0.5, left - 0.5, left + banks - 0.5, colors="#D0D0D0", linewidths=0.8)
    cells: dict[int, tuple[tuple[int, ...], int, bool]] = {}
    for s in group:                                      # a word that two phases want is drawn once
        lanes, degree, shared = cells.get(s.word, ((), 0, False))
        cells[s.word] = (lanes + s.lanes, max(degree, s.words_in_bank), shared or len(s.lanes) > 1)
    for word, (lanes, degree, shared) in cells.items():
        x, y, colour = left + word % banks, rows.index(word // banks), colour_of(degree)
        ax.add_patch(Rectangle((x - 0.44, y - 0.42), 0.88, 0.84, facecolor=colour, linewidth=2.2 if shared else 0,
                               edgecolor=style.INK if shared else colour))
        if tall < LEGIBLE:
            continue
        label, size = _label(sorted(set(lanes)), tall > 0.33)
        ax.text(x, y, label, ha="center", va="center", fontsize=max(7.5, size * scale**0.7), linespacing=1.0, color=style.text_on(colour))
    if tall < LEGIBLE:
        name_lanes(ax, {(left + w % banks, rows.index(w // banks)): sorted(set(lanes)) for w, (lanes, *_) in cells.items()}, len(rows))
    for bank in range(banks):
        words = max((s.words_in_bank for s in group if s.word % banks == bank), default=0)
        if words:
            ax.text(left + bank, len(rows) - 0.05, str(words), ha="center", va="center", fontsize=11 * scale**0.7,
                    weight="bold" if words > 1 else "normal", color=style.INK)


def _label(lanes, two_lines):
    """Return the text of a cell and its size: the lanes, or how many where they do not fit."""
    text = _ranges(lanes)
    if two_lines and len(text) > 3:
        text = text.replace("–", "–\n").replace(",", ",\n") if len(text) <= 5 else f"{len(lanes)}\nlanes"
    elif len(text) > 4:
        text = f"×{len(lanes)}"
    return text, {1: 11, 2: 11, 3: 10}.get(max(map(len, text.split("\n"))), 8)


def colour_of(degree: int) -> str:
    """Return the colour of a word, given how many words are wanted of its bank."""
    return next(colour for most, colour in DEGREES.items() if degree <= most)


def degrees_of(groups: Sequence[Sequence[Service]]) -> list[tuple[int, str]]:
    """Return the colours that occur: (key of DEGREES, numbers of words that it stands for, such as "3 to 4")."""
    degrees = {s.words_in_bank for group in groups for s in group}
    found = []
    for below, most in zip([0, *DEGREES], DEGREES):
        if any(below < d <= most for d in degrees):
            found.append((most, str(most) if most < 3 else f"{below + 1} to {most}"))
    return found


def _legend(ax, groups, scale, where):
    """Explain the colours that occur, the frame, and the numbers below."""
    handles = [Patch(color=DEGREES[b], label=f"{n} word{'s' * (n != '1')} of the bank") for b, n in degrees_of(groups)]
    if any(len(s.lanes) > 1 for group in groups for s in group):
        handles.append(Patch(facecolor="white", edgecolor=style.INK, linewidth=2.2, label="one word, several lanes: broadcast"))
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), fontsize=12 * scale**0.5, title_fontsize=12 * scale**0.5,
              ncols=4 if scale > 0.8 else 2, title=f"{where}: the lanes; below a column:{' ' if scale > 0.8 else chr(10)}"
              "different words wanted of the bank")


def _ranges(numbers):
    """Write sorted whole numbers with their runs: "0–15", "1, 3".

    >>> _ranges([0, 1, 2, 3, 7]), _ranges([0, 16]), _ranges([5])
    ('0–3, 7', '0,16', '5')
    """
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    parts = [str(a) if a == b else f"{a}–{b}" for a, b in runs]
    return (", " if any("–" in p for p in parts) else ",").join(parts)


def counted(record: TraceRecord, banks: int = BANKS) -> str:
    """Say how many wavefronts an access takes; with 16 banks, of each half-warp.

    >>> from types import SimpleNamespace
    >>> column = SimpleNamespace(addresses=np.arange(32) * 64, width=4, space="shared", operation="ld.shared.f32", line=1)
    >>> counted(column), counted(column, 16)
    ('16 wavefronts', '16 + 16 wavefronts, half-warp by half-warp')
    """
    counts = bank_counts(record, banks)
    if banks == BANKS:
        return f"{counts[0]} wavefront{'s' * (counts[0] != 1)}"
    return " + ".join(map(str, counts)) + " wavefronts, half-warp by half-warp"


def describe_banks(record: TraceRecord, banks: int = BANKS) -> str:
    """Return the alternative text of `bank_grid`.

    >>> from types import SimpleNamespace
    >>> column = SimpleNamespace(addresses=np.arange(32) * 128, width=4, space="shared", operation="ld.shared.f32", line=5)
    >>> describe_banks(column)
    'One access to shared memory, load of 4 bytes a lane, line 5: 32 lanes want 32 different words in 1 of 32 banks, at most 32 in one \
bank: 32 wavefronts.'
    """
    groups = bank_services(record, banks)
    words = {s.word for group in groups for s in group}
    most = max((s.words_in_bank for group in groups for s in group), default=0)
    lanes = int((np.asarray(record.addresses) >= 0).sum())
    shared = max((len(s.lanes) for group in groups for s in group), default=0)
    broadcast = f"; up to {shared} lanes want one word, a broadcast" if shared > 1 else ""
    return (f"One access to shared memory, {words_of(record)}: {lanes} lane{'s' * (lanes != 1)} want {len(words)} different "
            f"word{'s' * (len(words) != 1)} in {len({w % banks for w in words})} of {banks} banks, at most {most} in one bank{broadcast}: "
            f"{counted(record, banks)}.")
