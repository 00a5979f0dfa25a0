"""Every slip in what the reader gives gets one sentence; everything else reaches the kernel as it is."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.model.number_formats import from_bf16, to_bf16
from course_lib.run.inputs import problem


def f32(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def padded(rows, cols, ld):
    wide = f32(rows, ld)
    return wide[:, :cols]


@pytest.mark.parametrize(("A", "B", "C", "numbers", "words"), [
    ([[1.0]], f32(1, 1), None, {}, "A is a list, not a NumPy or CuPy array: make one with np.array(A, dtype="),
    (f32(2, 3), None, None, {}, "B is a NoneType"),
    (f32(2, 3).astype(float), f32(3, 2), None, {}, "A is float64, but this kernel computes in float32"),
    (f32(2, 3), f32(3, 2).astype(">f4"), None, {}, "B is >f4, but this kernel computes in float32"),
    (f32(2, 3), f32(3, 2), np.ones((2, 2), np.int32), {}, "C is int32"),
    (f32(3), f32(3, 2), None, {}, "A has 1 dimension, shape (3,): a matrix has two"),
    (f32(2, 3), f32(3, 2, 1), None, {}, "B has 3 dimensions, shape (3, 2, 1)"),
    (np.float32(3), f32(3, 2), None, {}, "A is a float32, not"),
    (f32(0, 3), f32(3, 2), None, {}, "A is 0 × 3: a matrix needs at least one row and one column"),
    (f32(2, 3), f32(4, 2), None, {}, "A is 2 × 3 and B is 4 × 2: B must have as many rows as A has columns, 3"),
    (f32(2, 3), f32(3, 4), f32(4, 2), {}, "C is 4 × 2, but A (2 × 3) times B (3 × 4) is 2 × 4"),
    (f32(3, 2).T, f32(3, 2), None, {}, "neighbours in a row of A lie 8 bytes apart, not 4: is it a transposed"),
    (f32(2, 6)[:, ::2], f32(3, 2), None, {}, "give np.ascontiguousarray(A)"),
    (f32(2, 3)[:, ::-1], f32(3, 2), None, {}, "neighbours in a row of A lie -4 bytes apart"),
    (f32(2, 3)[::-1], f32(3, 2), None, {}, "rows of A begin -12 bytes apart, but each takes 12 bytes"),
    (np.broadcast_to(f32(1, 3), (2, 3)), f32(3, 2), None, {}, "rows of A begin 0 bytes apart"),
    (np.zeros(2, [("x", "f4", 3), ("y", "u2")])["x"], f32(3, 2), None, {},
     "rows of A begin 14 bytes apart, no multiple of 4"),
    (np.broadcast_to(np.float32(0), (1 << 17, 1 << 15)), f32(3, 2), None, {},
     "neighbours in a row of A lie 0 bytes apart"),
    (f32(2, 3), f32(3, 2), None, {"beta": 2}, "beta = 2.0 adds to C, but no C is given"),
    (f32(2, 3), f32(3, 2), None, {"alpha": "1"}, "alpha = '1' is a str, not a real number"),
    (f32(2, 3), f32(3, 2), None, {"alpha": 1j}, "alpha = 1j is a complex"),
    (f32(2, 3), f32(3, 2), None, {"alpha": True}, "alpha = True is a bool"),
    (f32(2, 3), f32(3, 2), None, {"alpha": np.ones(1)}, "is a ndarray"),
    (f32(2, 3), f32(3, 2), None, {"alpha": 1e39}, "alpha = 1e+39 is too large for float32"),
    (f32(2, 3), f32(3, 2), None, {"alpha": 10**400}, "is too large for float32"),
])
def test_a_slip_gets_a_sentence(A, B, C, numbers, words):
    with pytest.raises(CourseError) as caught:
        problem(A, B, C, **numbers)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_elements_for_int():
    base = np.zeros(1, np.float32)
    huge = np.lib.stride_tricks.as_strided(base, (3, 1), (2**32, 4), writeable=False)
    with pytest.raises(CourseError, match="A spans 2147483649 elements"):
        problem(huge, f32(1, 1))


def test_too_many_elements_of_the_answer():
    tall = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1 << 16, 1), (4, 4), writeable=False)
    wide = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1, 1 << 15), (4, 4), writeable=False)
    with pytest.raises(CourseError, match="C spans 2147483648 elements"):
        problem(tall, wide)


def test_padding_is_nan_and_the_last_row_ends_at_its_last_element():
    A = padded(3, 4, 7)
    task = problem(A, f32(4, 5))
    assert (task.M, task.N, task.K, task.A.ld, task.B.ld, task.C.ld) == (3, 5, 4, 7, 5, 5)
    assert len(task.A.buffer) == 2 * 7 + 4
    np.testing.assert_array_equal(task.A.view(), A)
    assert np.isnan(task.A.buffer).sum() == 2 * 3
    assert np.isnan(task.C.buffer).all()


def test_stray_writes_are_counted():
    task = problem(f32(3, 4), f32(4, 5), padded(3, 5, 8))
    out = task.C.buffer.copy()
    assert task.C.stray(out) == 0
    task.C.view(out)[...] = 7
    assert task.C.stray(out) == 0
    out[[5, 8, 15]] = 1          # 5 and 15 are padding, 8 is C[1][0]
    assert task.C.stray(out) == 2


def test_the_given_arrays_are_copied():
    A, B, C = f32(2, 3), f32(3, 2), f32(2, 2)
    task = problem(A, B, C, beta=1)
    for matrix, given in ((task.A, A), (task.B, B), (task.C, C)):
        assert not np.shares_memory(matrix.buffer, given)
        np.testing.assert_array_equal(matrix.view(), given)


def test_one_row_or_one_column_needs_no_stride():
    row, column = f32(1, 9)[:, :3], f32(9, 3)[:, 1:2]
    task = problem(column, row)
    assert (task.A.ld, task.B.ld, task.M, task.K, task.N) == (3, 3, 9, 1, 3)
    transposed = problem(f32(1, 5).T, f32(5, 1).T)
    assert (transposed.M, transposed.K, transposed.N, transposed.A.ld, transposed.B.ld) == (5, 1, 5, 1, 5)


def test_read_only_arrays_and_odd_numbers_are_fine():
    A = f32(2, 3)
    A.flags.writeable = False
    from fractions import Fraction
    task = problem(A, f32(3, 2), alpha=Fraction(1, 3), beta=np.float64(0))
    assert task.alpha == np.float32(1 / 3)
    assert type(task.alpha) is type(task.beta) is np.float32


def test_the_arguments_are_those_of_sgemm():
    from course_lib.kernels.user import SGEMM
    task = problem(f32(3, 4), f32(4, 5), alpha=2)
    given = task.arguments("A", "B", "C")
    assert len(given) == len(SGEMM)
    for value, parameter in zip(given, SGEMM, strict=True):
        kind, name = parameter.rsplit(" ", 1)
        want = {"int": np.int32, "float": np.float32}.get(kind, str)
        assert type(value) is want
        assert not isinstance(value, str) or value == name
    assert [int(v) for v in given if isinstance(v, np.int32)] == [3, 5, 4, 4, 5, 5]


def test_factors_that_are_stored_as_bfloat16_are_bits_or_are_rounded():
    A, B = padded(5, 3, 8), f32(3, 4)
    given, rounded = problem(to_bf16(A), B, stored="bf16"), problem(A, B, stored="bf16")
    assert (given.A.ld, rounded.A.ld) == (3, 8)
    for task in (given, rounded):
        assert task.A.buffer.dtype == task.B.buffer.dtype == np.uint16
        assert task.C.buffer.dtype == np.float32
        assert np.array_equal(task.A.view(), to_bf16(A))
    assert np.isnan(from_bf16(rounded.A.buffer)).sum() == 4 * 5, "what lies between the rows"
    for wrong in (A.astype(float), A.astype(np.int16), A.astype(np.float16)):
        with pytest.raises(CourseError, match=r"A is \w+, but this kernel multiplies bfloat16: give float32.*to_bf16\(A\)"):
            problem(wrong, B, stored="bf16")
    with pytest.raises(CourseError, match="A is uint16, but this kernel computes in float32"):
        problem(to_bf16(A), B)
    with pytest.raises(CourseError, match="C is uint16, but this kernel computes in float32"):
        problem(A, B, np.zeros((5, 4), np.uint16), stored="bf16")
