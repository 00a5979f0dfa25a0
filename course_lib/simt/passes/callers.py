"""Lines for functions that stand in another file and were not inlined: those of the calls through which the reader's file reaches them.

The compiler names only the other file's line there. The line of the reader's file is that of the call, or of the call of the caller,
where all calls that can lead to the function stand in one line. Where they stand in several, the header's place says which, and an error
in a launch takes the one of the call that was under way (`host/faults.py`).
"""

import dataclasses
from collections.abc import Iterator, Set

from course_lib.simt.passes.calls import Linked, target_of
from course_lib.simt.ptx.ir import Function, Instruction, Kind, Reg

CALLED = ", called from lines "     # between a place in a header and the lines


def give_lines(linked: Linked, addressed: Set[str], entry: str) -> None:
    """Give the instructions of functions in other files the line of the reader's call; `addressed` are called through pointers too."""
    sites = {name: list(calls_of(linked, name, addressed)) for name in linked.functions}
    for name, function in linked.functions.items():
        if name != entry:
            lines = lines_of(sites, name, set())
            if lines:
                linked.functions[name] = with_lines(function, sorted(lines))


def calls_of(linked: Linked, name: str, addressed: Set[str]) -> Iterator[tuple[str, int]]:
    """Yield (caller, line) of each call that may enter a function."""
    for caller, function in linked.functions.items():
        for ins in function.body:
            if isinstance(ins, Instruction) and ins.kind is Kind.CALL:
                target = target_of(ins)
                if name in addressed if isinstance(target, Reg) else target.name == name:
                    yield caller, ins.line


def lines_of(sites: dict[str, list[tuple[str, int]]], name: str, seen: Set[str]) -> set[int]:
    """Return the lines of the reader's file from which a function is entered, by a call there or by way of others."""
    found: set[int] = set()
    for caller, line in sites[name]:
        if line:
            found.add(line)
        elif caller not in seen:
            found |= lines_of(sites, caller, {*seen, name})
    return found


def with_lines(function: Function, lines: list[int]) -> Function:
    """Return a function whose instructions without a line have the one line, or name the lines beside the place in the header."""
    whole = not any(isinstance(ins, Instruction) and ins.line for ins in function.body)

    def of(ins: Instruction) -> Instruction:
        if ins.line or not (ins.header or whole):       # before the first `.loc` of the reader's own function, nothing is known
            return ins
        if len(lines) == 1:
            return dataclasses.replace(ins, line=lines[0])
        *first, last = map(str, lines)
        return dataclasses.replace(ins, header=ins.header and f"{ins.header}{CALLED}{', '.join(first)} and {last}")

    return dataclasses.replace(function, body=[of(ins) if isinstance(ins, Instruction) else ins for ins in function.body])
