"""Which accesses to shared memory wait for a bank, array by array: a line may read from several."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from course_lib.arch import BANK_BYTES
from course_lib.model.banks import conflicts, shared_wavefronts
from course_lib.run import counter_name
from course_lib.simt.report import Report, TraceRecord

Counts: TypeAlias = tuple[int, int, int]                         # instructions, wavefronts, conflicts
Records: TypeAlias = Mapping[str, Sequence[TraceRecord]]         # of a line, by array
COUNTED = ("shared instructions", "wavefronts", "conflicts")
JOINED = (1, 2, 4)          # neighbouring loads that the assembler makes one instruction of


def per_array(report: Report, records: Records, line: int, kind: str) -> dict[str, Counts]:
    """Return {array: (instructions, wavefronts, conflicts)} of the traced warps in a line.

    The assembler joins neighbouring loads of one thread into wider ones, array by array, and a trace shows them before that. So all
    joins that are possible are tried: those that explain the line's counters are what the machine does.

    Parameters
    ----------
    kind
        "load" or "store".

    Returns
    -------
    dict
        Empty when no join, or more than one, explains the counters.
    """
    found = [each for _, each in _explaining(report, records, line, kind)]
    return found[0] if found and all(other == found[0] for other in found) else {}


def joined_accesses(report: Report, records: Records, line: int, kind: str) -> list[TraceRecord]:
    """Return the accesses of the traced warps in a line as the machine makes them, array by array: what is joined is one wider access.

    Arguments as for `per_array`. Where no join, or more than one, explains the counters, the records come back as they were traced.
    """
    found = _explaining(report, records, line, kind)
    widths = found[0][0] if len(found) == 1 else dict.fromkeys(records, 1)
    return [replace(record, width=widths[name] * record.width)
            for name, own in records.items() for record in _joined(own, widths[name]) or ()]


def _explaining(report: Report, records: Records, line: int, kind: str) -> list[tuple[dict[str, int], dict[str, Counts]]]:
    """Return ({array: how many loads are one}, {array: counts}) for each choice of joins that explains the line's counters."""
    line_counts = [report.lines[line].get(counter_name(what, kind), 0) for what in COUNTED]
    found = []
    for widths in itertools.product(JOINED if kind == "load" else (1,), repeat=len(records)):
        each = [counted(own, width, kind) for own, width in zip(records.values(), widths, strict=True)]
        counts = {name: one for name, one in zip(records, each, strict=True) if one is not None}
        if len(counts) == len(records) and _same_shares([sum(column) for column in zip(*counts.values(), strict=True)], line_counts):
            found.append((dict(zip(records, widths, strict=True)), counts))
    return found


def counted(records: Sequence[TraceRecord], width: int, kind: str) -> Counts | None:
    """Return (instructions, wavefronts, conflicts) of accesses of which `width` neighbours are one instruction; None: they cannot be."""
    joined = _joined(records, width)
    if joined is None:
        return None
    given = [(record.addresses, width * record.width, record.addresses >= 0, kind) for record in joined]
    return len(joined), sum(shared_wavefronts(*one) for one in given), sum(conflicts(*one) for one in given)


def _joined(records: Sequence[TraceRecord], width: int) -> Sequence[TraceRecord] | None:
    """Return the first of each `width` neighbouring accesses, or None where they are no neighbours or do not begin at a multiple."""
    if width == 1:
        return records
    of_warp = defaultdict(list)
    for record in records:
        of_warp[record.block, record.warp].append(record)
    found = []
    for own in of_warp.values():
        if len(own) % width:
            return None
        for first, *others in zip(*(own[i::width] for i in range(width)), strict=True):
            active = first.addresses >= 0
            after = ((other.addresses - first.addresses)[active] for other in others)
            if first.width != BANK_BYTES or (first.addresses[active] % (BANK_BYTES * width)).any() or not all(
                    (gap == BANK_BYTES * i).all() for i, gap in enumerate(after, 1)):
                return None
            found.append(first)
    return found


def _same_shares(some: Sequence[int], others: Sequence[int]) -> bool:
    """Return whether the numbers of one list are those of the other times one factor."""
    return all(a * others[0] == b * some[0] for a, b in zip(some, others, strict=True))
