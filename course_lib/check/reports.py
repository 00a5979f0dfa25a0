"""From what the compiler, the simulator and the comparison say to findings that a student can act on."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from course_lib import simt
from course_lib.check.finding import Finding
from course_lib.check.operation import WrongResult
from course_lib.kernels.user import written_values
from course_lib.simt.async_report import Finding as BrokenRule
from course_lib.simt.report import Hazard, Report
from course_lib.toolchain import CompileError

ORDER = ("compile", "entry", "atomics", "launch", "unsupported", "endless", "divergent barrier", "out of bounds", "misaligned",
         "hazard", "uninitialised", "wrong", "order", "gate", "not counted")
_KINDS = (
    (simt.OutOfBounds, "out of bounds"),
    (simt.Misaligned, "misaligned"),
    (simt.DivergentBarrier, "divergent barrier"),
    (simt.StepBudgetExceeded, "endless"),
    (simt.BarrierDeadlock, "endless"),
    (simt.UnsupportedInstruction, "unsupported"),
)
_LOCAL_NAME = re.compile(r"_ZZ.*E(\d+)(\w+)")       # a variable in a function, as C++ compilers write it
_PLACE = re.compile(r"(?:[\w$]+, )?line \d+(?: \(in [\w.]+, line \d+\))?: ")      # the simulator begins so; a finding shows the line itself
_BARRIER = re.compile(r"__syncthreads|bar\.sync|barrier")
_LEAVES = re.compile(r"\breturn\s*;")
_ORDERED = {"RAW": "reads with no barrier after the write", "WAR": "writes with no barrier after the read",
            "WAW": "writes with no barrier after another write", "copy": "reads that may come before the copy is complete"}


def urgency(finding: Finding) -> tuple[int, int]:
    """Return the key by which the findings of one input are sorted: what to repair first comes first."""
    return ORDER.index(finding.kind), finding.line or 0


def of_compiler(error: CompileError) -> list[Finding]:
    """Return a finding for each error of the compiler."""
    errors = [d for d in error.diagnostics if d.severity == "error"]
    hints = "".join(f" ({line})" for line in str(error).splitlines() if line.startswith("hint: "))
    return [Finding("compile", d.message.strip("\0 ") + hints, d.line, d.source_line) for d in errors] or [Finding("compile", str(error))]


def of_error(error: simt.SimtError, case: Any, lines: Sequence[str]) -> Finding:
    """Return the finding for a launch that was stopped."""
    kind = next((kind for cls, kind in _KINDS if isinstance(error, cls)), "launch")
    line = getattr(error, "line", None) or None
    text = _PLACE.sub("", str(error), count=1)
    return Finding(kind, f"{text} (Input: {case.name}, {case}.)", line, line_text(lines, line),
                   facts={"case": case, "error": error})


def of_hazards(report: Report, case: Any, lines: Sequence[str], right: bool) -> list[Finding]:
    """Return a finding per pair of lines that race or break a rule of asynchronous work, and per line that reads what nobody wrote.

    A read that races with the write is not called uninitialised too. Races between two warps come first: the simulator moves the threads of
    one warp in step, so that a wrong result is seldom due to them. `right` says whether the result is right.
    """
    pairs: dict[tuple[int, int], list[Hazard]] = {}
    reads: dict[int, Hazard] = {}
    rules: list[BrokenRule] = []
    for hazard in report.all_hazards:
        if isinstance(hazard, BrokenRule):
            rules.append(hazard)
        elif hazard.kind == "uninitialised":
            reads.setdefault(hazard.first_line, hazard)
        else:
            pairs.setdefault((min(hazard.first_line, hazard.second_line), max(hazard.first_line, hazard.second_line)), []).append(hazard)
    racing = {line for pair in pairs for line in pair}
    ordered = sorted(pairs.items(), key=lambda found: (all(hazard.one_warp for hazard in found[1]), found[0]))
    return ([_race(report, pair, hazards, case, lines, right) for pair, hazards in ordered]
            + [_broken_rule(rule, case, lines, right) for rule in rules]
            + [_uninitialised(report, hazard, case, lines) for line, hazard in reads.items() if line not in racing])


def of_wrong(wrong: WrongResult | str, guess: str, case: Any) -> Finding:
    """Return the finding for a wrong result."""
    text = f"{wrong} (input: {case.name}, {case})"
    facts = {"case": case}
    if not isinstance(wrong, str):
        facts |= {"row": wrong.row, "col": wrong.col, "mask": wrong.mask}
    return Finding("wrong", f"{text}. {guess}" if guess else text, facts=facts | {"guess": guess})


def of_order(wrong: WrongResult | str, case: Any) -> Finding:
    """Return the finding for a result that is right while blocks run one after another, and wrong when the last one runs first."""
    return Finding("order", "Right while blocks run one after another, but on a GPU they run side by side. When an earlier block runs only "
                   f"while later ones wait for it, {wrong} (input: {case.name}, {case}). Does each block wait until what it reads is "
                   "there, with all its threads? Is all of it there before another block is told so?", facts={"case": case})


def _race(report: Report, pair: tuple[int, int], hazards: Sequence[Hazard], case: Any, lines: Sequence[str], right: bool) -> Finding:
    """Return one finding for all hazards between two lines."""
    first, last = pair
    example = min(hazards, key=lambda hazard: hazard.one_warp)           # the first between two warps
    if example.bulk or example.first_multiplies:
        return _broken_rule(example, case, lines, right)
    times = ", ".join(f"{hazard.count:,} {_ORDERED['copy' if unfinished_copy(hazard) else hazard.kind]}" for hazard in hazards)
    threads = [_thread(example.first_thread), _thread(example.second_thread)]
    block = f"block {_thread(example.block)}"
    element = element_name(report, example.address, lines)
    if {hazard.kind for hazard in hazards} == {"WAW"}:
        text = f"{element} is written by threads {' and '.join(threads)} of {block}: it needs one writer between barriers"
    else:
        ends = [(example.first_line, threads[0]), (example.second_line, threads[1])]
        write, read = ends if example.kind != "WAR" else ends[::-1]
        luck = "right all the same, by luck of the order in which the warps run" if right else "wrong"
        if unfinished_copy(example):
            text = f"{_missing_wait(example, element, block)}. The result is {luck}"
        else:
            text = (f"thread {write[1]} writes {element} in line {write[0]} and thread {read[1]} reads it in line {read[0]}; "
                    f"both belong to {block}, and {_missing_barrier(first, last, lines)}. On this input the result is {luck}")
    return Finding("hazard", f"{text} ({times}, on input: {case.name}, {case})", last, line_text(lines, last),
                   facts={"case": case, "hazards": tuple(hazards)})


def _broken_rule(rule: BrokenRule | Hazard, case: Any, lines: Sequence[str], right: bool) -> Finding:
    """Return the finding for a fence, a wait or an arrival that bulk copies, mbarriers or wgmma need and the kernel lacks."""
    line = max(rule.first_line, rule.second_line)
    luck = "right here all the same, but a GPU need not give it" if right else "wrong"
    return Finding("hazard", f"{rule} The result is {luck} (input: {case.name}, {case})", line or None, line_text(lines, line),
                   facts={"case": case, "hazards": (rule,)})


def unfinished_copy(hazard: Hazard | BrokenRule) -> bool:
    """Tell whether a hazard is a read of what an asynchronous copy may not have brought yet."""
    return isinstance(hazard, Hazard) and hazard.kind == "RAW" and hazard.first_copies


def _missing_wait(example: Hazard, element: str, block: str) -> str:
    """Say what orders an asynchronous copy and a read: the copying thread's wait, and for other threads a barrier behind it."""
    copying, reading = _thread(example.first_thread), _thread(example.second_thread)
    text = f"thread {copying} of {block} copies to {element} in line {example.first_line}"
    if copying == reading:
        return (f"{text} and reads it in line {example.second_line}, but this thread has not waited for that copy: it may still be on its "
                "way. A wait that covers it (cp.async.wait_group or wait_all) must stand between the two")
    return (f"{text} and thread {reading} reads it in line {example.second_line}. The copying thread's wait (cp.async.wait_group or "
            "wait_all) and a __syncthreads() behind it must stand between the two")


def _missing_barrier(first: int, last: int, lines: Sequence[str]) -> str:
    """Say where a barrier is missing: between two lines, or on the way round the loop from the second to the first."""
    code = [line.split("//")[0] for line in lines[first - 1:last]]
    if not any(_BARRIER.search(line) for line in code):
        return f"no __syncthreads() stands between line {first} and line {last}"
    return f"no __syncthreads() stands between line {last} and line {first} of the next round"


def _uninitialised(report: Report, hazard: Hazard, case: Any, lines: Sequence[str]) -> Finding:
    line = hazard.first_line
    text = (f"{element_name(report, hazard.address, lines)} is read before anybody wrote it (thread {_thread(hazard.first_thread)} "
            f"of block {_thread(hazard.block)}; {hazard.count:,} times on input: {case.name}, {case}). "
            f"{_way_out(report, hazard.address, lines)}")
    return Finding("uninitialised", text, line, line_text(lines, line), facts={"case": case, "hazards": (hazard,)})


def _way_out(report: Report, address: int, lines: Sequence[str]) -> str:
    """Say what to do about an element that nobody wrote: in the padding behind a row the index is wrong, elsewhere the tile is not full."""
    for variable in report.shared:
        if variable.offset <= address < variable.offset + variable.nbytes:
            terms = row_terms(plain_name(variable.name), "\n".join(lines), report.defines) or [0]
            size = element_bytes(plain_name(variable.name), "\n".join(lines))
            if len(terms) > 1 and (address - variable.offset) // size % sum(terms) >= max(terms):
                return "This is a word of the padding at the end of a row, which no element is stored in: is the index right?"
    left = any(_LEAVES.search(line.split("//")[0]) for line in lines)
    return "Shared memory holds whatever was there: fill the whole tile, with 0 beyond the matrix" + (
        ". Did threads return before the load?" if left else "")


def element_name(report: Report, address: int, lines: Sequence[str]) -> str:
    """Return "As[0][5]" for the element of a shared array at an offset."""
    for variable in report.shared:
        if variable.offset <= address < variable.offset + variable.nbytes:
            name = plain_name(variable.name)
            index = (address - variable.offset) // element_bytes(name, "\n".join(lines))
            width = sum(row_terms(name, "\n".join(lines), report.defines))
            return f"{name}[{index // width}][{index % width}]" if width else f"{name}[{index}]"
    return f"byte {address} of shared memory"


def element_bytes(name: str, text: str) -> int:
    """Return the bytes of an element of a shared array as the text declares it; 4 where it does not say `double`.

    >>> element_bytes("Bs", "__shared__ double As[8][8], Bs[8][8];"), element_bytes("As", "__shared__ float As[8];")
    (8, 4)
    """
    return 8 if re.search(rf"__shared__[^;]{{0,200}}\bdouble\b[^;]{{0,200}}\b{re.escape(name)}\s*\[", text) else 4


def row_terms(name: str, text: str, defines: Mapping[str, Any] | None = None) -> list[int]:
    """Return the terms that make the length of a row, the last extent of an array with two; [] where the text does not say it.

    `defines`: the macros of the launch, which stand before what the text sets.

    >>> declared = "#define BK 16\\n#ifndef PAD\\n#define PAD 0\\n#endif\\n__shared__ float As[8][BK + PAD];"
    >>> row_terms("As", declared), row_terms("As", declared, {"PAD": 1})
    ([16, 0], [16, 1])
    """
    declared = re.search(rf"__shared__[^;]{{0,400}}\b{re.escape(name)}\s*\[[^\]]{{1,80}}\]\s*\[([^\]]{{1,80}})\]\s*[,;=]", text)
    if not declared:
        return []
    values = written_values(text) | dict(defines or {})
    terms = [values.get(term, term) for term in map(str.strip, declared[1].split("+"))]
    return list(map(int, terms)) if all(str(term).isdigit() for term in terms) else []


def plain_name(symbol: str) -> str:
    """Return the name that the reader gave to a variable.

    >>> plain_name("_ZZ5tiledE2As"), plain_name("As")
    ('As', 'As')
    """
    match = _LOCAL_NAME.match(symbol)
    return match[2][:int(match[1])] if match else symbol


def _thread(index: tuple[int, ...]) -> str:
    """Return (x, y), or (x, y, z) when z counts.

    >>> _thread((3, 1, 0))
    '(3, 1)'
    """
    return f"({', '.join(map(str, index if index[2:] != (0,) else index[:2]))})"


def line_text(lines: Sequence[str], number: int | None) -> str:
    """Return a line of the text, or "" when there is none of that number."""
    return lines[number - 1].rstrip() if number and number <= len(lines) else ""
