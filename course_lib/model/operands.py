"""How many cycles float32 multiply-adds take at least to read their operands: two register banks, and what `.reuse` keeps.

Registers with even numbers lie in one bank, those with odd numbers in the other, and a bank delivers one register per cycle. Each of the
three operand positions has a slot that keeps its register for the next multiply-add, where machine code says `.reuse`. Reads may wait:
a loop takes as many cycles as the bank that is read more often has reads, and at least one per multiply-add.

Source: fifteen loops of registers only, timed on one H200 (driver 580.159.04, CUDA 13.0) in November 2026; no document says it. `MEASURED`
and `MEASURED_CYCLES` have them. They took 1 to 9 % more cycles than the rule gives, and within 3 % of it when each other instruction
of the loop has a cycle of its own. A cycle for every collision within a multiply-add gives up to 11 % more than was measured.
Balancing the banks over 2, 3, 4, 6 or 8 multiply-adds gives up to 7, 4, 7, 4 and 2 % more; over the whole loop, never more.
How long a read may wait the loops do not tell: where long stretches favour one bank, a loop may take longer than the rule says.
No double-precision multiply-add was measured, and no device but the H200.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from course_lib.model.inputs import InputError

WITHIN = 0.03                   # share by which the rule with a cycle for each other instruction of the loop differs from measurements
MEASURED_CC = (9, 0)
PEAK_TFLOPS = 66.9              # of an H200's float32 units at 1980 MHz, with which `MEASURED` is compared
# Outer products of registers, (TM, TN, in serpentine order) -> 10^12 operations a second, H200, November 2026
MEASURED = {(8, 8, False): 53.1, (8, 8, True): 60.7, (16, 8, False): 58.0, (16, 8, True): 60.2, (12, 8, True): 63.4}
# The same products by `micro_outer` -> cycles of a scheduler per FFMA, slowest warp: 132 blocks of 256 threads, 1024 steps,
# `python -m tools gpu check --only operands`, H200, NVRTC 13.0, 2026-11-24
MEASURED_CYCLES = {
    (8, 8, False): 1.1592, (8, 8, True): 1.0502, (12, 8, False): 1.1901, (12, 8, True): 1.1269, (16, 8, False): 1.1419,
    (16, 8, True): 1.0249, (4, 8, False): 1.2846, (4, 8, True): 1.2562, (8, 4, False): 1.3498, (8, 4, True): 1.2250,
}

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
    """What the multiply-adds of a stretch of machine code read from the register banks.

    Attributes
    ----------
    multiply_adds
        FFMA instructions.
    even, odd
        Registers that they read from the bank of even numbers and from that of odd ones.
    """

    multiply_adds: int
    even: int
    odd: int

    @property
    def cycles(self) -> int:
        """Return the cycles that a scheduler needs for them at least."""
        return max(self.multiply_adds, self.even, self.odd)

    @property
    def per_multiply_add(self) -> float:
        """Return the cycles per FFMA at least: 1 where neither bank has more reads than there are FFMA instructions."""
        return self.cycles / self.multiply_adds

    def repeated(self, turns: int, around: "OperandReads") -> "OperandReads":
        """Return what `turns` of this stretch and, once, `around` read together."""
        return OperandReads(turns * self.multiply_adds + around.multiply_adds, turns * self.even + around.even,
                            turns * self.odd + around.odd)

    def tflops(self, peak: float = PEAK_TFLOPS) -> float:
        """Return the speed to which the reads limit code of multiply-adds alone, in the unit of `peak`."""
        return peak / self.per_multiply_add


def operand_reads(instructions: Iterable[MachineInstruction], loop: bool = True) -> OperandReads:
    """Count the registers that the FFMA instructions of a stretch of machine code read from each bank.

    Of an FFMA's source registers, those that the FFMA before it kept by `.reuse` in the same operand position are left out. Of the others
    the different even ones and the different odd ones are counted. Numbers, constants, uniform registers and RZ are in no bank.

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

    First the accumulator R4 and R2 are even, R9 is odd. Then R2 is kept, and R9 and R5 are read, both odd: the odd bank has three reads
    in all. The third multiply-add reads R2 again, and R5.

    >>> from types import SimpleNamespace
    >>> code = [SimpleNamespace(offset=16 * n, opcode="FFMA", operands=("R4", *words)) for n, words in enumerate(
    ...     [("R2.reuse", "R9", "R4"), ("R2", "R9", "R5"), ("R2", "1.5", "R5")])]
    >>> [operand_reads(code[:n], loop=False).cycles for n in (1, 2, 3)]
    [2, 3, 4]
    """
    found = registers_read(instructions, loop)
    read = [register for one in found for register in one]
    odd = sum(register % 2 for register in read)
    return OperandReads(len(found), len(read) - odd, odd)


def registers_read(instructions: Iterable[MachineInstruction], loop: bool = True) -> tuple[frozenset[int], ...]:
    """Return for each FFMA of a stretch of machine code the numbers of the registers that it reads from the banks.

    Parameters and errors are those of `operand_reads`, which adds them up.

    >>> from types import SimpleNamespace
    >>> code = [SimpleNamespace(offset=16 * n, opcode="FFMA", operands=words) for n, words in enumerate(
    ...     [("R4", "R2.reuse", "R9", "R4"), ("R4", "R2", "R7", "R4")])]
    >>> [sorted(read) for read in registers_read(code)]
    [[2, 4, 9], [4, 7]]
    """
    sources = [_sources(one) for one in instructions if is_ffma(one)]
    if not sources:
        raise InputError("there is no FFMA among these instructions: reads of operands were measured for float32 multiply-adds only")
    before = [sources[-1] if loop else (), *sources[:-1]]
    return tuple(_read(last, now) for last, now in zip(before, sources, strict=True))


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
        pair = instruction.opcode.startswith("FFMA2")
        return frozenset({int(found[1]), int(found[1]) + pair}), ".reuse" in word
    if _NO_BANK.fullmatch(word):
        return frozenset(), False
    raise InputError(f"{_where(instruction)} reads {word!r}: neither a register nor a number, a constant or a uniform register")


def _where(instruction):
    return f"{instruction.opcode} {', '.join(instruction.operands)} at {instruction.offset:#x}"


def _read(before, now):
    """Return the registers that one multiply-add reads from the banks, given the sources of the one before; () for none."""
    kept = [registers if reuse else frozenset() for registers, reuse in before] or [frozenset()] * len(now)
    return frozenset().union(*(registers - held for (registers, _), held in zip(now, kept, strict=True)))
