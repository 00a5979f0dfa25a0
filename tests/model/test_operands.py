"""The cycles that reads of operands take at least: against machine code counted by hand, line by line, and against measured loops."""

import pytest

from course_lib.model import InputError, OperandReads, operand_reads
from course_lib.model.operands import MEASURED, MEASURED_CYCLES, PEAK_TFLOPS, WITHIN
from course_lib.toolchain import SassInstruction


def code(*lines):
    """Return instructions from text such as "@P0 FFMA.FTZ R4, R2.reuse, R3, R4"."""
    made = []
    for number, line in enumerate(lines):
        predicate, rest = line.split(" ", 1) if line.startswith("@") else (None, line)
        opcode, _, words = rest.partition(" ")
        made.append(SassInstruction(16 * number, predicate, opcode, tuple(words.split(", ")) if words else (), number + 1))
    return made


@pytest.mark.parametrize(("line", "cycles"), [
    ("FFMA R0, R2, R4, R6", 3), ("FFMA R1, R3, R5, R7", 3),             # all in one bank
    ("FFMA R0, R2, R4, R7", 2), ("FFMA R0, R2, R5, R6", 2), ("FFMA R0, R3, R4, R6", 2),
    ("FFMA R0, R3, R5, R6", 2), ("FFMA R0, R2, R5, R7", 2),
    ("FFMA R0, R2, R2, R3", 1), ("FFMA R0, R2, R2, R4", 2), ("FFMA R0, R2, R2, R2", 1),
    ("FFMA R1, R2, R1, R2", 1),     # one register, one read
    ("FFMA R0, R2, 1.5, R3", 1), ("FFMA R0, R2, 1.5, R4", 2), ("FFMA R0, R2, -1.175494350822287508e-38, R4", 2),
    ("FFMA R0, R2, +INF, R4", 2), ("FFMA R0, R2, -QNAN, R3", 1), ("FFMA R0, R2, 0x7f800001, R3", 1),
    ("FFMA R0, R2, R4, 3", 2), ("FFMA R0, R2, R3, -0", 1),
    ("FFMA R0, R2, c[0x0][0x210], R4", 2), ("FFMA R0, R2, -c[0x3][0x4], R3", 1), ("FFMA R0, R2, cx[UR4][0x8], R3", 1),
    ("FFMA R0, R2, UR4, R3", 1), ("FFMA R0, R2, -UR4, R4", 2), ("FFMA R0, R2, R4, UR6", 2), ("FFMA R0, R2, |UR4|, UR6", 1),
    ("FFMA R0, R2, URZ, R4", 2),
    ("FFMA R0, R2, R4, RZ", 2), ("FFMA R0, R2, R3, RZ", 1), ("FFMA R0, RZ, RZ, -RZ", 1), ("FFMA RZ, R2, R3, -RZ", 1),
    ("FFMA R0, -R2, R3, -R4", 2), ("FFMA R0, |R2|, -|R2|, -R2", 1), ("FFMA R0, -|R2|, R3, |R5|", 2), ("FFMA R0, ~R2, R4, R6", 3),
    ("FFMA.FTZ R0, R2, R4, R6", 3), ("FFMA.FTZ.SAT R0, R2, R3, R4", 2), ("FFMA.RM R0, R2, R3, R5", 2), ("@!P0 FFMA R0, R2, R4, R6", 3),
    ("FFMA R254, R252, R253, R254", 2), ("FFMA R0, R10, R100, R3", 2),
    # a pair is a register of each bank
    ("FFMA2 R6, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO", 3), ("FFMA2 R6, R2.F32x2.HI_LO, UR8.F32x2.HI_LO, R6.F32x2.HI_LO", 2),
    ("FFMA2 R6, R2.F32x2.HI_LO, R2.F32x2.HI_LO, R2.F32x2.HI_LO", 1), ("FFMA2.FTZ R6, -R2.F32x2.HI_LO, RZ, R4.F32x2.HI_LO", 2)])
def test_one_alone(line, cycles):
    found = operand_reads(code(line), loop=False)
    assert (found.multiply_adds, found.cycles) == (1, cycles)


@pytest.mark.parametrize(("line", "even", "odd"), [
    ("FFMA R0, R2, R4, R7", 2, 1), ("FFMA R0, R3, R5, R7", 0, 3), ("FFMA R0, R2, R2, 1.5", 1, 0), ("FFMA R0, UR1, RZ, R3", 0, 1),
    ("FFMA2 R6, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R2.F32x2.HI_LO", 2, 2), ("FFMA2 R6, R2.F32x2.HI_LO, UR8.F32x2.HI_LO, RZ", 1, 1)])
def test_the_reads_of_each_bank(line, even, odd):
    assert operand_reads(code(line), loop=False) == OperandReads(1, even, odd)


def test_the_banks_catch_up_within_a_stretch():
    """Each of the two needs three cycles alone; together each bank has three reads."""
    lines = "FFMA R0, R2, R4, R6", "FFMA R1, R3, R5, R7"
    assert operand_reads(code(*lines)) == OperandReads(2, 3, 3)
    assert operand_reads(code(*lines)).cycles == 3
    assert operand_reads(code("FFMA R0, R2, R4, R6", "FFMA2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO")) == OperandReads(2, 6, 3)


@pytest.mark.parametrize(("before", "now", "cycles"), [
    # what is kept in its own position is not read again
    ("FFMA R0, R2.reuse, R4, R6", "FFMA R1, R2, R4, R6", 2), ("FFMA R0, R2, R4.reuse, R6", "FFMA R1, R2, R4, R6", 2),
    ("FFMA R0, R2, R4, R6.reuse", "FFMA R1, R2, R4, R6", 2), ("FFMA R0, R2.reuse, R4.reuse, R6", "FFMA R1, R2, R4, R6", 1),
    ("FFMA R0, R2.reuse, R4.reuse, R6.reuse", "FFMA R1, R2, R4, R6", 1),
    # but in another position it is
    ("FFMA R0, R2.reuse, R3, R5", "FFMA R1, R4, R2, R6", 3), ("FFMA R0, R3, R2.reuse, R5", "FFMA R1, R2, R4, R6", 3),
    ("FFMA R0, R3, R5, R2.reuse", "FFMA R1, R2, R4, R6", 3),
    # also when it is kept in one of two positions that name it
    ("FFMA R0, R2.reuse, R3, R5", "FFMA R1, R2, R2, R4", 2),
    # another register of the same position, or the same without the mark
    ("FFMA R0, R8.reuse, R3, R5", "FFMA R1, R2, R4, R6", 3), ("FFMA R0, R2, R4, R6", "FFMA R1, R2, R4, R6", 3),
    ("FFMA R0, R20.reuse, R3, R5", "FFMA R1, R2, R4, R6", 3),
    # with signs, modifiers, predicates
    ("FFMA R0, -R2.reuse, R3, R5", "FFMA R1, |R2|, R4, R6", 2), ("FFMA R0, -|R2|.reuse, R3, R5", "FFMA R1, R2, R4, R6", 2),
    ("FFMA R0, |R2.reuse|, R3, R5", "FFMA R1, R2, R4, R6", 2), ("@P1 FFMA.FTZ R0, R2.reuse, R3, R5", "FFMA.SAT R1, R2, R4, R6", 2),
    # a number keeps nothing
    ("FFMA R0, RZ.reuse, 1.5, UR2", "FFMA R1, R2, R4, R6", 3),
    ("FFMA2 R8, R2.F32x2.HI_LO.reuse, R4.F32x2.HI_LO, R6.F32x2.HI_LO", "FFMA2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO", 2),
    ("FFMA2 R8, R2.reuse.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO", "FFMA2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO", 2)])
def test_what_the_one_before_kept(before, now, cycles):
    both = operand_reads(code(before, now), loop=False)
    first = operand_reads(code(before), loop=False)
    assert max(1, both.even - first.even, both.odd - first.odd) == cycles
    between = operand_reads(code(before, "LDS.128 R40, [R18+0x10]", "@P0 IADD3 R2, R2, R4.reuse, R6", now, "BRA 0x0"), loop=False)
    assert between == both, "other instructions are passed over"


def test_only_the_one_directly_before_counts():
    lines = "FFMA R0, R2.reuse, R3, R5", "FFMA R1, R8, R9, R11", "FFMA R4, R2, R10, R6"
    assert operand_reads(code(*lines), loop=False) == OperandReads(3, 1 + 1 + 3, 2 + 2)


def test_in_a_loop_the_last_one_comes_before_the_first():
    lines = "FFMA R0, R2, R4, R6", "FFMA R1, R3, R5, R6.reuse"
    assert operand_reads(code(*lines)) == OperandReads(2, 2 + 1, 2)
    assert operand_reads(code(*lines), loop=False) == OperandReads(2, 3 + 1, 2)
    alone = "FFMA R0, R2.reuse, R4.reuse, R0"
    assert (operand_reads(code(alone)).cycles, operand_reads(code(alone), loop=False).cycles) == (1, 3)


def test_an_outer_product_by_hand():
    """Two rows of three, a = R0, R1, b = R2, R3, R4: row by row, then with the second row backwards."""
    plain = code("FFMA R10, R0.reuse, R2, R10", "FFMA R11, R0.reuse, R3, R11", "FFMA R12, R0, R4, R12",         # even 3, 0, 2; odd 0, 2, 0
                 "FFMA R13, R1.reuse, R2, R13", "FFMA R14, R1.reuse, R3, R14", "FFMA R15, R1, R4, R15")         # even 1, 1, 1; odd 2, 1, 1
    snake = code("FFMA R10, R0.reuse, R2, R10", "FFMA R11, R0.reuse, R3, R11", "FFMA R12, R0, R4.reuse, R12",   # even 2, 0, 2: R2 is kept
                 "FFMA R15, R1.reuse, R4, R15", "FFMA R14, R1.reuse, R3, R14", "FFMA R13, R1, R2.reuse, R13")   # even 0, 1, 1: R4 is kept
    assert operand_reads(plain) == OperandReads(6, 8, 6)
    assert operand_reads(snake) == OperandReads(6, 6, 6)


def test_cycles_and_speed():
    assert OperandReads(100, 119, 80).per_multiply_add == OperandReads(100, 80, 119).per_multiply_add == 1.19
    assert OperandReads(100, 99, 99).per_multiply_add == 1, "no multiply-add takes less than a cycle"
    assert OperandReads(100, 119, 80).tflops() == pytest.approx(56.2, abs=0.05)
    assert OperandReads(2, 3, 1).repeated(10, OperandReads(1, 0, 2)) == OperandReads(21, 30, 12)
    assert (WITHIN, PEAK_TFLOPS, len(MEASURED), len(MEASURED_CYCLES)) == (0.03, 66.9, 5, 10)


@pytest.mark.parametrize(("lines", "words"), [
    ((), "no FFMA"), (("LDS R0, [R1]", "FMUL R0, R1, R2"), "no FFMA"), (("DFMA R0, R2, R4, R6",), "no FFMA"),
    (("HFMA2 R0, R2, R4, R6", "FFMA32I R0, R2, 1, R4"), "no FFMA"),
    (("FFMA R0, R2, R4, R6", "FFMA R0, R2, R4"), r"FFMA R0, R2, R4 at 0x10 has 3 operands"),
    (("FFMA R0, R2, R4.H0_H0, R6",), r"FFMA R0, R2, R4.H0_H0, R6 at 0x0 reads 'R4.H0_H0'"), (("FFMA R0, R2, P0, R6",), "reads 'P0'"),
    (("FFMA R0, R2, [R4], R6",), r"reads '\[R4\]'")])
def test_what_was_not_measured_is_refused(lines, words):
    with pytest.raises(InputError, match=words):
        operand_reads(code(*lines))
