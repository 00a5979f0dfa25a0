"""Sums of long chains lie in memory: LLVM's quick code generator would give each of thousands of values a place of its own.

A product of two vectors of registers, unrolled over k, makes a new value of every sum for every k. All but the last one are dead. So the
multiply-add puts its result where the old sum was: 128 sums of a thread take 16 KB, which the processor's nearest cache holds, and not
256 KB.
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.simt.codegen.uniform.affine import VECTOR
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import Instruction, Reg

MANY = 256  # multiply-adds of a chain


@dataclass(frozen=True)
class InMemory:
    """The value of a register whose lanes lie in the uniform memory of a warp, at `offset`."""

    offset: int


class Sums:
    """Says where the sums of the current chain lie."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.used, self.wanted = 0, False

    def plan(self, blocks: Sequence[Block]) -> None:
        """Begin a chain."""
        self.used = 0
        self.wanted = sum(is_sum(ins) for block in blocks for ins in block.instructions) >= MANY

    def place(self, ins: Instruction, number: int, values: MutableMapping[str, Any]) -> InMemory | None:
        """Return where the result of an instruction is to lie, None when it is a value like others; a sum that it replaces is forgotten."""
        if not self.wanted or not is_sum(ins) or self.context.kinds.of(ins.destinations[0].name) != VECTOR:
            return None
        old = ins.operands[3]
        found = values.get(old.name) if isinstance(old, Reg) else None
        if isinstance(old, Reg) and isinstance(found, InMemory) and old.name not in self.context.kinds.after[number]:
            del values[old.name]
            return found
        self.used += 1
        return InMemory(self.context.allocate(("sum", self.used), 128, 64))


def is_sum(ins: Instruction) -> bool:
    """Say whether an instruction is a multiply-add in single precision."""
    return ins.opcode == ("fma", "rn", "f32") and ins.guard is None
