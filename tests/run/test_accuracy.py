"""The tolerance holds for every order of addition, and nothing wrong slips through."""

import math

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.model.number_formats import from_bf16, to_bf16, to_e4m3
from course_lib.run.accuracy import limit, magnitude, matches, max_error, mismatch, reference, tolerance

GEN = np.random.default_rng(3)


def f32(*shape):
    return GEN.standard_normal(shape).astype(np.float32)


def slow(A, B, order):
    out = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for k in order:
        out = (out + A[:, k:k + 1] * B[k:k + 1]).astype(np.float32)
    return out


@pytest.mark.parametrize("K", [1, 2, 17, 500])
def test_float32_in_any_order_is_right(K):
    A, B = f32(5, K), f32(K, 7)
    for order in (range(K), range(K - 1, -1, -1), GEN.permutation(K)):
        assert matches(slow(A, B, order), A, B)
    assert matches(A @ B, A, B)


def test_the_worst_constant_data_is_still_right():
    A, B = np.full((1, 5000), 0.1, np.float32), np.full((5000, 1), 0.7, np.float32)
    assert matches(slow(A, B, range(5000)), A, B)


def test_alpha_beta_in_float32():
    A, B, C = f32(4, 9), f32(9, 3), f32(4, 3)
    out = np.float32(1.3) * (A @ B) + np.float32(-0.7) * C
    assert matches(out, A, B, C, alpha=1.3, beta=-0.7)
    assert not matches(out, A, B, C, alpha=1.3, beta=0.7)
    assert not matches(out, A, B, C, alpha=1.3001, beta=-0.7)


@pytest.mark.parametrize("K", [1, 16, 128, 1000])
def test_one_term_too_few_is_wrong(K):
    A, B = 1 + GEN.random((6, K), np.float32), 1 + GEN.random((K, 5), np.float32)
    out = (A[:, :-1] @ B[:-1]) if K > 1 else np.zeros((6, 5), np.float32)
    assert not matches(out, A, B)
    assert mismatch(out, A, B).count == 30


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_nan_or_infinity_is_wrong(bad):
    A, B = f32(3, 4), f32(4, 5)
    out = A @ B
    out[1, 2] = bad
    assert not matches(out, A, B)
    found = mismatch(out, A, B)
    assert (found.row, found.col, found.count, found.size) == (1, 2, 1, 15)
    assert str(bad) in str(found)
    assert math.isnan(max_error(out, A, B)) == math.isnan(bad)


def test_swapped_operands_and_a_transposed_answer_are_wrong():
    A, B = f32(6, 6), f32(6, 6)
    assert not matches(B @ A, A, B)
    assert not matches((A @ B).T, A, B)


def test_exact_zeros():
    A, B = np.zeros((2, 3), np.float32), f32(3, 2)
    assert matches(np.zeros((2, 2), np.float32), A, B)
    assert not matches(np.full((2, 2), 1e-30, np.float32), A, B)


def test_products_that_underflow_are_no_error():
    A, B = np.full((1, 4), 1e-25, np.float32), np.full((4, 1), 1e-25, np.float32)
    assert matches(np.zeros((1, 1), np.float32), A, B)


def test_c_is_not_read_when_beta_is_zero():
    A, B = f32(2, 3), f32(3, 2)
    assert np.isfinite(reference(A, B, np.full((2, 2), np.nan), 1, 0)).all()
    assert np.isfinite(magnitude(A, B, np.full((2, 2), np.nan), 1, 0)).all()


def test_a_wrong_shape_is_refused():
    A, B = f32(2, 3), f32(3, 4)
    with pytest.raises(CourseError, match=r"shape \(4, 2\), but A and B give \(2, 4\)"):
        max_error((A @ B).T, A, B)


def test_float32_cannot_add_ten_million_terms():
    with pytest.raises(CourseError, match="guarantee nothing"):
        tolerance(10_000_000)
    assert tolerance(10_000, np.float64) < 1e-11


def test_a_result_stored_as_bfloat16_may_be_rounded_once_more():
    A, B = to_bf16(f32(20, 64)), to_bf16(f32(64, 30))
    exact = reference(A, B)
    assert matches(to_bf16(exact), A, B, inputs="bf16")
    assert not matches(from_bf16(to_bf16(exact)), A, B, inputs="bf16"), "floats are held to a float's bound"
    assert limit(A, "bf16", rounded=True) == pytest.approx(2**-8, rel=1e-2)
    off = exact + 1.1 * 2**-8 * np.abs(from_bf16(A)).astype(float) @ np.abs(from_bf16(B))
    assert mismatch(to_bf16(off), A, B, inputs="bf16").count > 500


def test_the_bound_of_fp8_grows_fast():
    A, B = to_e4m3(f32(20, 64)), to_e4m3(f32(64, 30))
    assert matches(reference(A, B).astype(np.float32), A, B, inputs="e4m3")
    assert limit(A, "e4m3") == pytest.approx(66 * 2**-13, rel=1e-2)
    assert tolerance(3970, inputs="e4m3", stored=True) > 0.9
    with pytest.raises(CourseError, match="guarantee nothing"):
        tolerance(3971, inputs="e4m3")


def test_stored_bfloat16_is_exact_and_only_its_sums_are_rounded():
    A, B = to_bf16(f32(20, 64)), to_bf16(f32(64, 30))
    exact = from_bf16(A).astype(float) @ from_bf16(B).astype(float)
    assert np.array_equal(reference(A, B), exact)
    assert limit(A, "bf16") == tolerance(64, inputs="bf16", stored=True) + tolerance(64, np.float64) < 1e-5
    assert limit(from_bf16(A), "bf16") > 2**-8
    assert matches(exact.astype(np.float32), A, B, inputs="bf16")
    off = exact * (1 + 2**-12)                # more than sums explain, and less than rounded factors would
    assert not matches(off.astype(np.float32), A, B, inputs="bf16")
    assert matches(off.astype(np.float32), from_bf16(A), from_bf16(B), inputs="bf16")
