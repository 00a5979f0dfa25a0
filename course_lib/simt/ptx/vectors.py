"""Moves of vectors, `mov.v2.b32 v, {a, b}`, as moves of their elements."""

import dataclasses
from collections.abc import Callable

from course_lib.simt.errors import PtxSyntaxError
from course_lib.simt.ptx.ir import Instruction, Reg, Vec


def moves(ins: Instruction, registers: dict[str, str], error: Callable[[str], PtxSyntaxError]) -> list[Instruction]:
    """Return a move of a vector as moves of elements, through registers of their own where it reads what it writes; others as they are.

    `registers` maps registers to types and takes new ones; `error` makes the error for a move whose operands do not fit.
    """
    if ins.opcode[0] != "mov" or ins.opcode[1:2] not in (("v2",), ("v4",)):
        return [ins]
    count, opcode = int(ins.opcode[1][1:]), (ins.opcode[0], *ins.opcode[2:])
    if len(ins.operands) != 2 or not all(isinstance(o, Vec) and len(o.items) == count for o in ins.operands):
        raise error(f"{ins.name} takes two vectors of {count} elements")
    targets, sources = (o.items for o in ins.operands)
    registers_only = all(isinstance(target, Reg) for target in targets)
    if not registers_only or len({t for t in targets if t.name != "_"}) < sum(t.name != "_" for t in targets):
        raise error(f"{ins.name} writes registers, each of them once")

    def move(target: Reg, source: object) -> Instruction:
        return dataclasses.replace(ins, opcode=opcode, operands=(target, source))

    pairs = [(t, s) for t, s in zip(targets, sources) if t.name != "_"]
    if not any(t in sources or t == ins.guard for t, _ in pairs):
        return [move(t, s) for t, s in pairs]
    kept = [Reg(f"{t.name}@moved") for t, _ in pairs]
    registers.update({k.name: registers[t.name] for k, (t, _) in zip(kept, pairs) if t.name in registers})
    return [move(k, s) for k, (_, s) in zip(kept, pairs)] + [move(t, k) for k, (t, _) in zip(kept, pairs)]
