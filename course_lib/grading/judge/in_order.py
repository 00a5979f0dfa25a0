"""Gates that read what each traced warp does in its own order: its barriers, and whether its loads have work to hide behind."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from course_lib import simt
from course_lib.grading.judge.spec import Reading
from course_lib.run.traces import is_barrier, is_load, is_store
from course_lib.simt.report import TraceRecord

LOAD, COPY, READ, WRITE, BARRIER = "global load", "copy", "shared read", "shared write", "barrier"
_LETTERS = {LOAD: "L", COPY: "C", READ: "R", WRITE: "W", BARRIER: "B"}
NOTHING = Reading(float("inf"), "no traced warp reads or writes anything")
_RUN = re.compile(r"(\w)\1+|(\w\w)\2+|\w")       # one kind again and again, two that take turns, or a single one


Steps = list[tuple[str, int]]


def traced_warps(report: simt.Report) -> list[Steps]:
    """Return what each traced warp did, in its order: (kind, source line); stores to global memory are left out.

    A copy is a `cp.async`, from global to shared memory without a register.
    """
    ordered = sorted(report.trace, key=_who)           # stable: each warp keeps its order
    return [steps(list(records)) for _, records in groupby(ordered, key=_who)]


def _who(record):
    return record.block, record.warp


def steps(records: Sequence[TraceRecord]) -> Steps:
    """Return what one warp did."""
    found = ((_kind(record), record.line) for record in records)
    return [(kind, line) for kind, line in found if kind]


def _kind(record):
    if record.operation.startswith("cp.async"):           # traced twice: where it reads, and where it writes
        return COPY if record.space == "global" else ""
    if is_barrier(record):
        return BARRIER
    kinds = {("global", True): LOAD, ("shared", True): READ} if is_load(record) else {("shared", is_store(record)): WRITE}
    return kinds.get((record.space, True), "")


def between_barriers(done: Steps) -> list[str]:
    """Return for each stretch from one barrier to the next what a warp did, in words: "16 global loads, 32 shared reads"."""
    return [", ".join(_words(match) for match in _RUN.finditer(span)) for span in _spans(done) if span]


def _spans(done):
    """Return the letters of what a warp did from one barrier to the next."""
    return "".join(_LETTERS[kind] for kind, _ in done).split(_LETTERS[BARRIER])


def _words(match):
    """Say one run: of one kind, or of two that take turns."""
    kinds = [kind for letter in dict.fromkeys(match[0]) for kind, known in _LETTERS.items() if known == letter]
    times = len(match[0]) // len(kinds)
    return f"{times} {kinds[0]}{'s' * (times > 1)}" if len(kinds) == 1 else f"{times} times ({', '.join(kinds)})"


def tiles_of(done: Steps) -> int:
    """Return how many tiles along K a warp multiplied, whatever the text calls a tile: stretches between barriers in which it reads.

    A stretch with less than half of the reads of that which has most is none.
    """
    reads = [span.count(_LETTERS[READ]) for span in _spans(done)]
    return sum(count > 0 and 2 * count >= max(reads) for count in reads)


def barriers_per_tile(report: simt.Report, work: float) -> Reading:
    """Read the barriers of a warp for each of its tiles along K; of all traced warps the most."""
    found = []
    for done in traced_warps(report):
        lines, tiles = Counter(line for kind, line in done if kind == BARRIER), tiles_of(done)
        found.append(Reading(lines.total() / tiles if tiles else float("inf"), f"{lines.total()} / {tiles} tiles", dict(lines)))
    return max(found, key=lambda reading: reading.value, default=NOTHING)


def loads_in_the_open(report: simt.Report, work: float) -> Reading:
    """Read the share of a warp's loads from global memory that no work hides; of all traced warps the largest.

    A load is hidden when the warp reads at least half of what it reads for a tile before it needs what it loads: before its next store to
    shared memory, or its next barrier. An asynchronous copy needs no store, so for that only the barrier counts.
    """
    return max((_in_the_open(done) for done in traced_warps(report)), key=lambda reading: reading.value, default=NOTHING)


def _in_the_open(done):
    asked = seen = 0
    enough = sum(kind == READ for kind, _ in done) / max(tiles_of(done), 1) / 2
    waiting: list[tuple[str, int, int]] = []             # kind, line, and how many reads there had been
    lines: Counter[int] = Counter()
    for kind, line in done:
        if kind in (LOAD, COPY):
            asked += 1
            waiting.append((kind, line, seen))
        elif kind == READ:
            seen += 1
        else:
            needed = [one for one in waiting if kind == BARRIER or one[0] == LOAD]
            lines.update(line for _, line, before in needed if not (seen > before and seen - before >= enough))
            waiting = [one for one in waiting if one not in needed]
    return Reading(lines.total() / max(asked, 1), f"{lines.total()} / {asked} loads", dict(lines))
