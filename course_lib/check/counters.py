"""Which counters of a right kernel look bad, in which line, and what would be better."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from course_lib.arch import BANK_BYTES, BANKS, SECTOR_BYTES, WARP
from course_lib.check.case import Case
from course_lib.check.conflicts import per_array
from course_lib.check.finding import Finding
from course_lib.check.operation import Tile
from course_lib.check.reports import line_text, plain_name
from course_lib.run import counter_name
from course_lib.simt.report import Report, TraceRecord
from course_lib.toolchain.resources import Resources

Group: TypeAlias = tuple[int, str, str, int, str]        # line, kind, array, width, space
Active: TypeAlias = tuple[TraceRecord, np.ndarray]       # a record, and the addresses of its active lanes
Noted: TypeAlias = tuple[str, str, int | None]           # kind of a finding, message, line
SLACK = 1.05            # a count up to so much above the least is no matter
REUSE = 1.25            # loads above this multiple of what a block needs
ALONG_ROWS = "Let neighbouring lanes take neighbouring elements of a row"
PAD = "Let the lanes run along a row, or make each row one element longer"


@dataclass
class ArrayAccess:
    """What the traced warps did in one line to one array: requests, sectors and bytes of all, a typical one's pattern.

    `step` is the most frequent distance in bytes from a lane to its neighbour, `walks` says that a thread's next
    request begins where this one ends. In shared memory, `words` is how many different ones a request mostly wants, and
    `banks` in how many banks they lie.
    """

    line: int
    kind: str
    array: str
    width: int
    requests: int = 0
    sectors: int = 0
    used: int = 0
    step: int = 0
    walks: bool = False
    words: int = 0
    banks: int = 0


def notes(report: Report, resources: Resources, case: Case, tile: Tile | None, lines: Sequence[str]) -> list[Finding]:
    """Return a finding (a warning) for each counter that looks bad.

    Parameters
    ----------
    report
        Of a right launch that traces the warps of a block.
    tile
        BM and BN: outputs of a block. None: the kernel computes no product, so nothing is said of what it loads twice.

    Returns
    -------
    list
        Of kind "loads", "sectors", "bank conflicts", "spills" or "local memory".
    """
    seen = accesses(report)
    found = (_loads(report, seen, case, tile) if tile else []) + _sectors(report, seen) + _conflicts(report, seen) + _spills(resources)
    return [Finding(kind, text, line, line_text(lines, line), "warning") for kind, text, line in found]


def accesses(report: Report) -> list[ArrayAccess]:
    """Return an `ArrayAccess` for each line, kind and array in a trace."""
    return [_access(key, records) for key, records in grouped(report).items()]


def grouped(report: Report) -> dict[Group, list[Active]]:
    """Return the trace records of each (line, kind, array, width, space), with the addresses of their active lanes."""
    ranges: list[tuple[int, int, str, str]] = [(a.address, a.address + a.nbytes, a.name, "global") for a in report.arrays]
    ranges += [(v.offset, v.offset + v.nbytes, plain_name(v.name), "shared") for v in report.shared]
    groups: dict[Group, list[Active]] = defaultdict(list)
    for record in report.trace:
        kind = {"ld": "load", "st": "store"}.get(record.operation.split(".")[0])
        active = record.addresses[record.addresses >= 0]
        if kind and len(active):
            name = next((n for low, high, n, space in ranges if space == record.space and low <= active[0] < high), None)
            if name:
                groups[record.line, kind, name, record.width, str(record.space)].append((record, active))
    return groups


def _access(key: Group, records: Sequence[Active]) -> ArrayAccess:
    line, kind, array, width, space = key
    found = ArrayAccess(line, kind, array, width)
    for _, active in records:
        touched = np.unique((active[:, None] + np.arange(width)).ravel())
        found.requests += 1
        found.used += len(touched)
        found.sectors += len(np.unique(touched // SECTOR_BYTES)) if space == "global" else 0
    if space == "shared":
        (found.words, found.banks), _ = Counter(_spread(active, width) for _, active in records).most_common(1)[0]
    # The commonest distance; nothing is said of lanes that want the same.
    steps = Counter(int(d) for _, active in records for d in np.abs(np.diff(active)) if d)
    found.step = steps.most_common(1)[0][0] if steps else 0
    turns = [(a, b) for (a, _), (b, _) in zip(records, records[1:], strict=False) if a.warp == b.warp and a.mask == b.mask]
    on = sum(bool((b.addresses - a.addresses == width)[a.addresses >= 0].all()) for a, b in turns)
    found.walks = found.step > width and 2 * on > len(turns) > 0
    return found


def _spread(addresses: np.ndarray, width: int) -> tuple[int, int]:
    """Return (different words, banks that they lie in) of one access to shared memory.

    >>> tx, ty = np.arange(32) % 16, np.arange(32) // 16
    >>> _spread(64 * tx, 4), _spread(64 * tx + 4 * ty, 4), _spread(16 * np.arange(8), 16)
    ((16, 2), (32, 4), (32, 32))
    """
    words = np.unique(addresses[:, None] // BANK_BYTES + np.arange(-(-width // BANK_BYTES)))
    return len(words), len(np.unique(words % BANKS))


def _loads(report: Report, seen: Sequence[ArrayAccess], case: Case, tile: Tile) -> list[Noted]:
    """Say that a block loads elements more often than once."""
    loads = [a for a in seen if a.kind == "load" and a.sectors]
    size = max((array.itemsize for array in report.arrays), default=4)
    times = sum(a.used for a in loads) / (size * case.K * (tile["BM"] + tile["BN"]))
    if times <= REUSE:
        return []
    name, work = counter_name("sectors", "load"), case.M * case.N * case.K
    line = max(report.lines, key=lambda n: report.lines[n].get(name, 0))
    count, share = report.counters[name], report.lines[line].get(name, 0) / report.counters[name]
    least = (1 / tile["BM"] + 1 / tile["BN"]) * size / SECTOR_BYTES
    text = (f"a block of {tile['BM']} × {tile['BN']} outputs loads each number that it needs of A and B {times:.1f} times on average, and "
            f"touches {count / work / least:.1f} times as many sectors as if it loaded them once, neighbour by neighbour, into shared "
            f"memory: {count / work:.4f} sectors for each multiply-add instead of {least:.4f}, {100 * share:.0f} % of them in this line")
    return [("loads", text, line)]


def _sectors(report: Report, seen: Sequence[ArrayAccess]) -> list[Noted]:
    """Say which requests touch more sectors than as many neighbouring elements fill."""
    found: list[Noted] = []
    for access in seen:
        ideal = access.width * WARP // SECTOR_BYTES
        if not access.sectors or access.sectors <= SLACK * ideal * access.requests:
            continue
        text = (f"{access.array}: {access.sectors / access.requests:.1f} sectors a {access.kind} request; 32 neighbouring elements fill "
                f"{ideal}, and here {access.used / access.sectors:.0f} of the {SECTOR_BYTES} bytes of a sector are used")
        text += f". The addresses of neighbouring lanes differ by {access.step} bytes" if access.step > access.width else ""
        text += f", and each thread goes on by {access.width} bytes" if access.walks else ""
        wide = f", or {access.kind} four at once as a float4" if access.walks and access.width == 4 else ""
        found.append(("sectors", f"{text}. {ALONG_ROWS}{wide}", access.line))
    return found


def _conflicts(report: Report, seen: Sequence[ArrayAccess]) -> list[Noted]:
    """Say which accesses to shared memory need more wavefronts than without bank conflicts, array by array where that can be told."""
    found: list[Noted] = []
    groups = grouped(report)
    for line, counters in sorted(report.lines.items()):
        for kind in ("load", "store"):
            total, more = (counters.get(counter_name(what, kind), 0) for what in ("wavefronts", "conflicts"))
            if total <= SLACK * (total - more):
                continue
            here = {a.array: a for a in sorted(seen, key=lambda a: (a.step, a.words / max(1, a.banks)))
                    if (a.line, a.kind) == (line, kind) and not a.sectors}
            records = {name: [record for key, own in groups.items() if key[:3] == (line, kind, name) for record, _ in own] for name in here}
            each = per_array(report, records, line, kind) or {" and ".join(sorted(here)): (0, total, more)}
            for name, (_, fronts, waits) in each.items():
                if waits:
                    text = (f"{f'{name}: ' if name else ''}{fronts / (fronts - waits):.1f} times the wavefronts that a {kind} without bank "
                            f"conflicts takes{_in_few_banks(here.get(name))}. {PAD}")
                    found.append(("bank conflicts", text, line))
    return found


def _in_few_banks(access: ArrayAccess | None) -> str:
    """Say by how much the addresses of lanes differ when that puts the words of a warp into fewer banks than there is room for.

    >>> _in_few_banks(ArrayAccess(9, "load", "As", 4, step=64, words=32, banks=4))
    '. The addresses of neighbouring lanes differ by 64 bytes: the 32 words of a warp lie in 4 of 32 banks'
    >>> _in_few_banks(ArrayAccess(9, "load", "As", 4, step=132, words=16, banks=16))
    ''
    """
    if not access or access.step <= access.width or access.banks >= min(access.words, BANKS):
        return ""
    return (f". The addresses of neighbouring lanes differ by {access.step} bytes: the {access.words} words of a warp lie in "
            f"{access.banks} of {BANKS} banks")


def _spills(resources: Resources) -> list[Noted]:
    """Say that registers did not suffice, or that an array of a thread lies in memory."""
    if resources.spill_store_bytes or resources.spill_load_bytes:
        moved = (f"{resources.spill_store_bytes} bytes are stored and {resources.spill_load_bytes} loaded again because a thread's "
                 f"{resources.registers} registers do not suffice")
        return [("spills", f"{moved}: compute fewer outputs a thread, or start smaller blocks", None)]
    if resources.local_bytes:
        return [("local memory", f"{resources.local_bytes} bytes per thread lie there, a part of global memory: an array is indexed by "
                 "what only the run knows. Let every index be known to the compiler, by unrolling", None)]
    return []
