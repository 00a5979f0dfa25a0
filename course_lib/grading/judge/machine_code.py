"""Gates that read machine code: instructions per multiply-add as the hardware executes them, and bytes in local memory."""

import re
from collections.abc import Callable, Sequence

from course_lib import simt
from course_lib.grading.judge.spec import Reading, by_line, conflicts_by_line
from course_lib.run import counter_name
from course_lib.toolchain import executed

FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
_DEPOT = re.compile(r"\.local \.align \d+ \.b8 \s*__local_depot\d+\[(\d+)\]")
INDEXED = ("An array stays in registers when the compiler knows each index: unroll every loop that counts an index of it to the end, with "
           "bounds that it knows")
SPILLED = ("No array lies there: a thread has more values at once than registers. Let it compute fewer sums, or let it have more registers "
           "(`__launch_bounds__` with fewer threads or blocks)")
INSTRUCTIONS = "smsp__inst_executed.sum"
_COUNTERS = {"LDG": counter_name("requests", "load"), "STG": counter_name("requests", "store"),
             "LDS": counter_name("shared instructions", "load"), "STS": counter_name("shared instructions", "store")}


def counts_of(report: simt.Report) -> dict[tuple[int, str], float]:
    """Return how often warps executed what `toolchain.executed` wants to know: (line, opcode) -> times, as far as it is the hardware's.

    >>> from types import SimpleNamespace
    >>> level = dict.fromkeys(_COUNTERS.values(), "PTX level")
    >>> counts_of(SimpleNamespace(level=level, lines={7: {FFMA: 64, INSTRUCTIONS: 9}}))
    {(7, 'FFMA'): 2.0, (7, 'BAR'): 9}
    """
    sure = {opcode: name for opcode, name in _COUNTERS.items() if report.level[name] == "hardware"}
    counted: dict[tuple[int, str], float] = {}
    for line, counts in report.lines.items():
        counted[line, "FFMA"] = counts.get(FFMA, 0) / 32
        counted[line, "BAR"] = counts.get(INSTRUCTIONS, 0)           # meant for a line that has nothing but a barrier
        counted |= {(line, opcode): counts.get(name, 0) for opcode, name in sure.items()}
    return counted


def per_multiply_add(report: simt.Report, work: float) -> Reading:
    """Read how many machine instructions of loops a warp executes for each of its multiply-adds; of the report, `sass`, `lines`, `level`.

    Loops alone, with all that is in them (loads of the tiles, barriers, the loop along K): what comes once in a kernel would count
    the less the larger K is. A multiply-add outside them counts as little.
    """
    found = executed(report.sass, counts_of(report))
    looped = found.total(opcode="FFMA", looped=True)
    instructions, multiply_adds = found.total(looped=bool(looped)), min(looped or work / 32, work / 32)
    return Reading(instructions / multiply_adds, f"{instructions:.0f} / {multiply_adds:.0f} of warps", found.per_line(looped=bool(looped)))


def local_bytes(report: simt.Report, work: float) -> Reading:
    """Read how many bytes of a thread lie in local memory: arrays that the run indexes, which PTX declares, and spilled registers.

    Of the report, `resources` and `ptx` are read.
    """
    taken = report.resources
    arrays = min(sum(map(int, _DEPOT.findall(report.ptx))), taken.local_bytes)
    spilled, words = taken.local_bytes - arrays, f"{taken.registers} registers a thread"
    if arrays:
        return Reading(float(taken.local_bytes), f"{arrays} of an array, {words}" if spilled else f"of an array, {words}", advice=INDEXED)
    return Reading(float(taken.local_bytes), f"of registers that were moved out, {words}" if spilled else words, advice=SPILLED)


def registers(report: simt.Report, work: float) -> Reading:
    """Read how many registers a thread takes; of the report, `resources` is read."""
    return Reading(float(report.resources.registers), "as the compiler allots them")


def per_warp(what: str, kinds: Sequence[str] = ("load",)) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads a count of accesses for each multiply-add of a warp; `what` and each of `kinds` as in `counter_name`."""
    names = [counter_name(what, kind) for kind in kinds]

    def read(report, work):
        count = sum(report.counters[name] for name in names)
        conflicts = conflicts_by_line(report, names) if what == "wavefronts" else {}
        return Reading(32 * count / work, f"{count} / {work // 32} of warps", by_line(report, names), conflicts)

    return read
