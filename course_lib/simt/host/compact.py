"""A Program as a launch needs it, made to be read from disk in a few milliseconds."""

import dataclasses
from typing import Any

from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Mem, Vec


def compact(program: Program) -> Program:
    """Return a Program for launches, quick to read from disk: no liveness, and each operand there once."""
    once: dict[Any, Any] = {}

    def shared(operand):
        if isinstance(operand, Vec):
            operand = Vec(tuple(once.setdefault(o, o) for o in operand.items))
        if isinstance(operand, Mem):
            operand = Mem(once.setdefault(operand.base, operand.base), operand.offset)
        return once.setdefault(operand, operand)

    def compact_one(ins):
        opcode = once.setdefault(ins.opcode, ins.opcode)
        return dataclasses.replace(ins, opcode=opcode, operands=tuple(map(shared, ins.operands)), guard=shared(ins.guard))

    compacted = {id(i): compact_one(i) for b in program.blocks for i in b.instructions}
    blocks = [dataclasses.replace(b, instructions=[compacted[id(i)] for i in b.instructions], live_in=frozenset()) for b in program.blocks]
    instructions = [compacted.get(id(i)) or compact_one(i) for i in program.instructions]
    return dataclasses.replace(program, instructions=instructions, blocks=blocks, linked=dataclasses.replace(program.linked, functions={}))
