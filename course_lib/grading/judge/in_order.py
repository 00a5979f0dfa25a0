"""Gates that read what one warp does in its own order, from a trace: its barriers, and whether its loads have work to hide behind."""

import re
from collections import Counter
from collections.abc import Callable

from course_lib import simt
from course_lib.grading.judge.spec import Reading
from course_lib.run.traces import is_barrier, is_load, is_store

LOAD, COPY, READ, WRITE, BARRIER = "global load", "copy", "shared read", "shared write", "barrier"
_LETTERS = {LOAD: "L", COPY: "C", READ: "R", WRITE: "W", BARRIER: "B"}
_RUN = re.compile(r"(\w)\1+|(\w\w)\2+|\w")       # one kind again and again, two that take turns, or a single one


def steps(report: simt.Report) -> list[tuple[str, int]]:
    """Return what the traced warp did, in its order: (kind, source line); stores to global memory are left out.

    A copy is a `cp.async`, from global to shared memory without a register.
    """
    found = ((_kind(record), record.line) for record in report.trace)
    return [(kind, line) for kind, line in found if kind]


def _kind(record):
    if record.operation.startswith("cp.async"):           # traced twice: where it reads, and where it writes
        return COPY if record.space == "global" else ""
    if is_barrier(record):
        return BARRIER
    kinds = {("global", True): LOAD, ("shared", True): READ} if is_load(record) else {("shared", is_store(record)): WRITE}
    return kinds.get((record.space, True), "")


def between_barriers(report: simt.Report) -> list[str]:
    """Return for each stretch from one barrier to the next what the warp did, in words: "16 global loads, 32 shared reads"."""
    spans = "".join(_LETTERS[kind] for kind, _ in steps(report)).split(_LETTERS[BARRIER])
    return [", ".join(_words(match) for match in _RUN.finditer(span)) for span in spans if span]


def _words(match):
    """Say one run: of one kind, or of two that take turns."""
    kinds = [kind for letter in dict.fromkeys(match[0]) for kind, known in _LETTERS.items() if known == letter]
    times = len(match[0]) // len(kinds)
    return f"{times} {kinds[0]}{'s' * (times > 1)}" if len(kinds) == 1 else f"{times} times ({', '.join(kinds)})"


def barriers_per_tile(tiles: int) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads the barriers of a warp for each of its tiles along K, of which the gate's input has `tiles`."""
    def read(report, work):
        lines = Counter(line for kind, line in steps(report) if kind == BARRIER)
        return Reading(lines.total() / tiles, f"{lines.total()} / {tiles} tiles", dict(lines))

    return read


def loads_in_the_open(report: simt.Report, work: float) -> Reading:
    """Read the share of a warp's loads from global memory that no work hides.

    A load is hidden when the warp reads shared memory before it needs what it loads: before its next store to shared memory, or its next
    barrier. An asynchronous copy needs no store, so for that only the barrier counts.
    """
    asked = 0
    waiting: list[tuple[str, int]] = []
    lines: Counter[int] = Counter()
    for kind, line in steps(report):
        if kind in (LOAD, COPY):
            asked += 1
            waiting.append((kind, line))
        elif kind == READ:
            waiting = []
        else:
            needed = [one for one in waiting if kind == BARRIER or one[0] == LOAD]
            lines.update(line for _, line in needed)
            waiting = [one for one in waiting if one not in needed]
    return Reading(lines.total() / max(asked, 1), f"{lines.total()} / {asked} loads", dict(lines))
