"""Where a fault is: the line of the reader's file, the thread and its block, as messages say it."""

import ctypes
from collections.abc import Mapping
from typing import Any

from course_lib.simt.errors import where
from course_lib.simt.host.running import Running
from course_lib.simt.passes import calls
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.runtime import abi

Facts = dict[str, Any]


def place(facts: Mapping[str, Any]) -> str:
    """Say where: kernel, line, place in a header that was inlined there, block, thread."""
    there = where(facts.get("line", 0), facts.get("header", ""))
    return f"{facts['kernel']}{there and f', {there}'}: thread {facts['thread']} of block {facts['block']}"


def callers_line(run: Running, worker: Any) -> int:
    """Return the line of the reader's file at which the failing thread entered the functions that it is in; 0 where there is none.

    The last call on its stack comes first. Below what `runtime/calls.cuh` saved for a call lie 8 bytes for each register.
    """
    if not run.program.linked.has_calls:
        return 0
    stack = abi.Warp.from_address(run.warp_address(worker, worker.fault_warp)).stack
    depth = ctypes.c_uint32.from_address(stack + 4 * (abi.LANES + worker.fault_lane)).value
    base = stack + 8 * abi.LANES + worker.fault_lane * calls.STACK_BYTES
    while depth:
        call = run.program.calls[0][ctypes.c_uint32.from_address(base + depth - 8).value]
        line = run.program.instructions[call.number].line
        if line:
            return int(line)
        depth -= 8 * call.saved + 8
    return 0


def loop_line(program: Program, block: int) -> int:
    """Return the line of the innermost loop around a block: where it decides to go round again."""
    head = program.blocks[block].loop_head
    inside = [b for b in program.blocks if b.loop_head == head] if head is not None else []
    back = [b.last.line for b in inside if head in b.successors and b.last is not None and b.last.line]
    first = program.blocks[block if head is None else head]
    return back[0] if back else next((i.line for i in [*first.instructions, *program.blocks[block].instructions] if i.line), 0)


def waits_for_others(program: Program, block: int) -> bool:
    """Say whether the innermost loop around a block looks at memory that other threads may change."""
    head = program.blocks[block].loop_head
    return program.blocks[block].polls or head is not None and any(b.polls for b in program.blocks if b.loop_head == head)


def variable_at(run: Running, address: int) -> tuple[str, int]:
    """Return the name of the `__shared__` variable at an offset in shared memory and the byte in it; ("", offset) where there is none.

    Dynamic ones have no size of their own and reach to the end.
    """
    for name, at, nbytes in run.program.shared:
        if at <= address and (address < at + nbytes or not nbytes):
            return name, address - at
    return "", address
