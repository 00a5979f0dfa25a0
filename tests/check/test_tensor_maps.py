"""Kernels that fetch A and B by tensor maps, checked as any others: what they get, and what is found in them."""

import numpy as np
import pytest

from course_lib import kernels
from course_lib.check import check
from course_lib.check.case import Case
from course_lib.check.product_trial import gap
from course_lib.check.sgemm import Sgemm
from course_lib.grading.sandbox import wire
from course_lib.model.number_formats import from_bf16
from course_lib.run.inputs import problem

TEXT = kernels.get("sbgemm_tma").source
BOXES = ((128, 64), (64, 64))
PADDED = Case("padded", 37, 53, 41, alpha=1.5, beta=-0.5, pad=3)


def trial(case=PADDED):
    return Sgemm(inputs="bf16", stored="bf16", boxes=BOXES).trial(case)


def test_the_arguments_are_those_of_run():
    asked = trial()
    A, B, C, _ = asked.matrices()
    wanted = problem(A, B, C, PADDED.alpha, PADDED.beta, stored="bf16", boxes=BOXES)
    there = wanted.arguments(wanted.A.buffer, wanted.B.buffer, wanted.C.buffer)
    for ours, theirs in zip(asked.args, there, strict=True):
        if hasattr(ours, "box"):
            assert np.array_equal(ours.array, theirs.array)
            assert ours.encode(0) == theirs.encode(0)
        else:
            np.testing.assert_array_equal(ours, theirs)
    assert np.array_equal(from_bf16(asked.args[4].array), A), "nothing is rounded on the way"
    assert asked.args[7] is asked.C


def test_the_arguments_of_parts_are_those_of_run():
    """Three parts of each matrix by a map, and behind SGEMM's arguments the scales, and both matrices as they are."""
    boxes = kernels.get("sgemm_parts").boxes
    asked = Sgemm(inputs="bf16x3 by 64", stored="bf16x3", boxes=boxes).trial(PADDED)
    A, B, C, _ = asked.matrices()
    wanted = problem(A, B, C, PADDED.alpha, PADDED.beta, stored="bf16x3", boxes=boxes)
    there = wanted.arguments(wanted.A.buffer, wanted.B.buffer, wanted.C.buffer)
    for at, (ours, theirs) in enumerate(zip(asked.args, there, strict=True)):
        if hasattr(ours, "box"):
            assert np.array_equal(ours.array, theirs.array)
            assert ours.encode(0) == theirs.encode(0)
        elif at not in (7, 8):             # C, whose rows begin at even elements, and where that is
            np.testing.assert_array_equal(ours, theirs)
    assert np.shares_memory(asked.args[11], asked.A)
    assert np.shares_memory(asked.args[13], asked.B)


def test_rows_of_c_begin_at_even_elements_and_rows_of_the_factors_at_multiples_of_16_bytes():
    *_, A, B, _, _, ldc = trial().args
    assert (A.array.strides[0], B.array.strides[0]) == (2 * 48, 2 * 56)
    assert ldc == 53 + gap(PADDED, "C", BOXES) == 56
    assert not A.array.flags.writeable


def test_a_tensor_map_goes_to_the_sandbox():
    arrays = []
    sent = wire.encoded(list(trial().args), arrays)
    back = wire.decoded(sent, wire.rebuilt(wire.shapes(arrays), b"".join(array.tobytes() for array in arrays)))
    for ours, theirs in zip(trial().args[4:6], back[4:6], strict=True):
        assert np.array_equal(ours.array, theirs.array)
        assert ours.encode(1 << 40) == theirs.encode(1 << 40)


def test_numbers_that_are_stored_as_bfloat16_are_not_rounded_again():
    asked = trial(Case("plain", 64, 64, 64))
    A, B, _, C = asked.matrices()
    C[...] = A @ B
    operation = Sgemm(inputs="bf16", stored="bf16", boxes=BOXES)
    assert operation.judge(asked) is None
    C[3, 5] += 0.01
    assert (operation.judge(asked).row, operation.judge(asked).col) == (3, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sbgemm_tma", "sbgemm_clusters", "sgemm_parts"])
def test_the_kernels_of_the_course_are_right(name):
    assert check(name).right


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "kind"), [
    ("phase ^ 1", "phase", "endless"), ("barrier_expect(barrier, A_BYTES + B_BYTES)", "barrier_expect(barrier, A_BYTES)", "hazard"),
    ("            products_wait<0>();\n", "", "hazard"), ("As + group * 64 * 128", "As", "wrong"),
    (", q + 1 < N)", ", true)", "out of bounds")])
def test_what_is_wrong_with_a_text_like_them_is_found(old, new, kind):
    assert TEXT.count(old) == 1
    assert check(TEXT.replace(old, new)).findings[0].kind == kind
