"""Whole steps along K and what each machine instruction is for: held to bodies by hand and to what the source asks for."""

import pytest

from course_lib.kernels import get
from course_lib.toolchain import Loop, SassInstruction, compile_cuda, count, inner_loop, loops, purposes, sass, whole_step
from course_lib.toolchain.step_along_k import WholeStep

NAMES = ("multiply-adds", "loads from shared memory", "the inner loop itself", "once per tile")


def body(*texts):
    """Return the instructions of a text, one each 16 bytes."""
    code = []
    for n, text in enumerate(texts):
        predicate, _, rest = text.partition(" ") if text.startswith("@") else (None, "", text)
        op, _, operands = rest.partition(" ")
        code.append(SassInstruction(16 * n, predicate, op, tuple(o.strip() for o in operands.split(",") if o), None))
    return code


def loop_of(*texts):
    code = body(*texts)
    return Loop(0, 16 * (len(code) - 1), 1, (), count(code), tuple(code))


def test_what_each_instruction_is_for():
    loop = loop_of("LDS R3, [R17]", "VIADD R15, R15, 0x1", "LDG.E R9, desc[UR8][R4.64]", "IADD3 R5, R5, 0x4, RZ",
                   "IADD3 R17, R17, 0x40, RZ", "ISETP.NE.AND P0, PT, R15, 0x10, PT", "MOV R30, RZ", "STS [R20+0x8], R9",
                   "VIADD R20, R20, 0x4", "BAR.SYNC 0x0", "FFMA R0, R3, R2, R0", "@P0 BRA 0x0")
    assert purposes(loop) == (
        "load from shared memory", "counter", "load from global memory", "address", "address", "test", "other", "store to shared memory",
        "address", "barrier", "multiply-add", "jump")


def test_a_loop_that_is_not_written_out_pays_five_for_one_multiply_add():
    found = inner_loop("sgemm_unrolled", UNROLL=1).loop
    said = purposes(found)
    assert {name: said.count(name) for name in set(said)} == {
        "multiply-add": 1, "load from shared memory": 2, "address": 2, "counter": 1, "test": 1, "jump": 1}


@pytest.mark.slow
@pytest.mark.parametrize("TILE", [8, 16, 32])
def test_the_overhead_is_shared_by_the_steps_that_are_written_out(TILE):
    for written in (1, 2, 4, 8, 16, 32):
        if written > TILE:
            continue
        step = whole_step("sgemm_unrolled", TILE=TILE, UNROLL=written)
        shares = step.shares()
        assert tuple(shares) == NAMES
        assert shares["multiply-adds"] == 1
        assert step.multiply_adds in (TILE, 2 * TILE)
        assert step.rolled == (written < TILE)
        assert step.turns == TILE // written
        assert shares["the inner loop itself"] == (5 / written if written < TILE else 0)
        assert sum(shares.values()) == step.per_multiply_add
        assert 1.25 <= shares["loads from shared memory"] <= 2


def test_a_step_is_what_the_loop_along_k_executes():
    """The same sum, by hand: the outer loop once, the inner loop's body fifteen times more."""
    kernel = get("sgemm_unrolled")
    code = sass(compile_cuda(kernel.source, name="sgemm_unrolled.cu", defines=kernel.defines(UNROLL=1)), kernel.entry)
    outer, inner = sorted(loops(code), key=lambda loop: loop.depth)
    step = whole_step("sgemm_unrolled", UNROLL=1)
    assert step.counts["instructions"] == outer.counts["instructions"] + 15 * inner.counts["instructions"]
    assert step.counts["BAR"] == 2
    assert step.counts["LDS.32"] == 32


def test_kernels_whose_step_is_not_known():
    assert whole_step("sgemm_naive") is None
    assert whole_step("sgemm_volkov") is None


def test_shares_of_a_step_by_hand():
    inner = loop_of("LDS R3, [R1]", "FFMA R0, R3, R2, R0", "VIADD R1, R1, 0x4", "@P0 BRA 0x0")
    outer = loop_of("LDG.E R9, [R4.64]", "STS [R8], R9", "LDS R3, [R1]", "FFMA R0, R3, R2, R0", "VIADD R1, R1, 0x4", "@P0 BRA 0x0",
                    "@P1 BRA 0x0")
    step = WholeStep(inner, outer, 4, 4, "FFMA")
    assert tuple(step.shares().values()) == (1, 1, 2, 3 / 4)
    assert step.per_multiply_add == 19 / 4
