"""How many cycles a float32 multiply-add takes to read its operands: two register banks, and what `.reuse` keeps. An estimate.

Registers with even numbers lie in one bank, those with odd numbers in the other, and a bank delivers one register per cycle. Each of the
three operand positions has a slot that keeps its register for the next multiply-add, where machine code says `.reuse`.

Source: loops of registers only, timed on one H200 (driver 580.159.04, CUDA 13.0) in November 2026; no document says it. `MEASURED` has
them. The rule gives up to 3 % more cycles than were measured. No double-precision multiply-add was measured, and no device but the H200.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from course_lib.model.inputs import InputError

TOO_MANY = 0.03                 # the rule's cycles may exceed the measured ones by this share
MEASURED_CC = (9, 0)
PEAK_TFLOPS = 66.9              # of an H200's float32 units at 1980 MHz, with which `MEASURED` is compared
# Outer products of registers, (TM, TN, in serpentine order) -> 10^12 operations a second, H200, November 2026
MEASURED = {(8, 8, False): 53.1, (8, 8, True): 60.7, (16, 8, False): 58.0, (16, 8, True): 60.2, (12, 8, True): 63.4}

_REGISTER = re.compile(r"[-|~]*R(\d+)(?:\||\.reuse|\.F32x2\.\w+)*")
_NO_BANK = re.compile(r"[-+|~]*(?:RZ|URZ|UR\d+|cx?\[|INF|QNAN|SNAN|\.?\d)\S*")


class MachineInstruction(Protocol):
    """What is read of a machine instruction; `toolchain.SassInstruction` is one."""

    @property
    def offset(self) -> int:
        """Return the bytes from the start of the kernel."""

    @property
    def opcode(self) -> str:
        """Return the opcode with its modifiers."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Return the destination and the sources as nvdisasm writes them."""


@dataclass(frozen=True)
class OperandReads:
    """What a stretch of machine code takes to read the operands of its multiply-adds.

    Attributes
    ----------
    multiply_adds
        FFMA instructions.
    cycles
        That a scheduler needs for them, estimated.
    """

    multiply_adds: int
    cycles: int

    @property
    def per_multiply_add(self) -> float:
        """Return the cycles per FFMA: 1 where no operands collide."""
        return self.cycles / self.multiply_adds

    @property
    def at_least(self) -> float:
        """Return the cycles per FFMA less the share by which the rule was seen to exceed measurements, and not below 1: for a bound."""
        return max(1.0, (1 - TOO_MANY) * self.per_multiply_add)

    def tflops(self, peak: float = PEAK_TFLOPS) -> float:
        """Return the speed to which the reads limit code of multiply-adds alone, in the unit of `peak`."""
        return peak / self.per_multiply_add


def operand_reads(instructions: Iterable[MachineInstruction], loop: bool = True) -> OperandReads:
    """Estimate the cycles that the FFMA instructions of a stretch of machine code take to read their operands.

    Of an FFMA's source registers, those that the FFMA before it kept by `.reuse` in the same operand position are left out. Of the others
    the different even ones and the different odd ones are counted: it takes as many cycles as the greater number, and at least one.
    Numbers, constants, uniform registers and RZ are in no bank.

    Parameters
    ----------
    instructions
        In the order of their execution. All but FFMA (and FFMA2, whose operands are pairs: one register of each bank) are passed over.
    loop
        Whether the last FFMA comes before the first one.

    Raises
    ------
    InputError, a ValueError
        When there is no FFMA, or one has an operand that the rule does not know.

    Source: the module's docstring. FFMA2 is counted by the same rule, but no device that has it was measured.

    The accumulator R4 and R2 are even: two cycles. Then R2 is kept, and R5 and R9 are the only reads left, both odd.

    >>> from types import SimpleNamespace
    >>> code = [SimpleNamespace(offset=16 * n, opcode="FFMA", operands=("R4", *words)) for n, words in enumerate(
    ...     [("R2.reuse", "R9", "R4"), ("R2", "R9", "R5"), ("R2", "1.5", "R5")])]
    >>> [operand_reads(code[:n], loop=False).cycles for n in (1, 2, 3)]
    [2, 4, 5]
    """
    sources = [_sources(one) for one in instructions if is_ffma(one)]
    if not sources:
        raise InputError("there is no FFMA among these instructions: reads of operands were measured for float32 multiply-adds only")
    before = [sources[-1] if loop else (), *sources[:-1]]
    return OperandReads(len(sources), sum(_cycles(last, now) for last, now in zip(before, sources, strict=True)))


def is_ffma(instruction: MachineInstruction) -> bool:
    """Tell whether an instruction is a float32 multiply-add of whatever rounding, or a pair of them (FFMA2)."""
    return instruction.opcode.split(".")[0] in ("FFMA", "FFMA2")


def _sources(instruction):
    """Return for each operand position its register, as a set that is empty for a number, and whether it is kept."""
    words = instruction.operands
    if len(words) != 4:
        raise InputError(f"{_where(instruction)} has {len(words)} operands, but a result and three sources are expected")
    return tuple(_source(instruction, word) for word in words[1:])


def _source(instruction, word):
    if found := _REGISTER.fullmatch(word):
        return frozenset({int(found[1])}), ".reuse" in word       # of a pair (FFMA2) the even one: the odd ones wait as long
    if _NO_BANK.fullmatch(word):
        return frozenset(), False
    raise InputError(f"{_where(instruction)} reads {word!r}: neither a register nor a number, a constant or a uniform register")


def _where(instruction):
    return f"{instruction.opcode} {', '.join(instruction.operands)} at {instruction.offset:#x}"


def _cycles(before, now):
    """Return the cycles of one multiply-add, given the sources of the one before; () for none."""
    kept = [registers if reuse else frozenset() for registers, reuse in before] or [frozenset()] * len(now)
    read = frozenset().union(*(registers - held for (registers, _), held in zip(now, kept, strict=True)))
    even = sum(register % 2 == 0 for register in read)
    return max(1, even, len(read) - even)
