"""What a result says about the format that was multiplied, and mistakes that are seen through the rounding of a kernel for tensor cores."""

import numpy as np
import pytest

from course_lib.check.case import Case
from course_lib.check.formats import factors, nearly_right, too_few_bits
from course_lib.check.sgemm import Sgemm
from course_lib.model.number_formats import parts, round_to

SQUARE = Case("square", 32, 32, 32)
FACTORS = Case("factors, padded", 48, 17, 64, alpha=1.5, beta=-0.5, pad=3)
TILE = {"BM": 32, "BN": 32, "BK": 16}


def solve(operation, case, name, cut=False, how=lambda A, B: A @ B):
    """Return a trial with the product of numbers rounded to a format in its C."""
    trial = operation.trial(case)
    A, B, before, C = trial.matrices()
    product = how(*(round_to(m, name, cut).astype(np.float64) for m in (A, B)))
    C[...] = case.alpha * product + (case.beta * before if case.beta else 0)
    return trial


@pytest.mark.parametrize("case", [SQUARE, FACTORS], ids=str)
@pytest.mark.parametrize(("asked", "made", "cut", "says"), [
    ("", "bf16", False, "that of bfloat16: this is the product of A and B rounded to 8 bits"),
    ("", "bf16", True, "that of bfloat16: this is the product of A and B cut off to 8 bits"),
    ("", "tf32", False, "that of TF32: this is the product of A and B rounded to 11 bits"),
    ("bf16x3", "bf16", False, "that of bfloat16"),
    ("tf32", "bf16", False, "that of bfloat16"),
])
def test_a_format_with_too_few_bits_is_named(case, asked, made, cut, says):
    operation = Sgemm(inputs=asked)
    trial = solve(operation, case, made, cut)
    wrong = operation.judge(trial)
    assert wrong is not None
    assert says in operation.guess(trial, wrong, TILE, again=None)


@pytest.mark.parametrize(("asked", "made"), [("", "float32"), ("tf32", "tf32"), ("tf32", "float32"), ("bf16", "bf16"), ("bf16", "tf32")])
def test_a_format_with_enough_bits_is_right_and_not_blamed(asked, made):
    trial = solve(Sgemm(inputs=asked), FACTORS, made)
    assert Sgemm(inputs=asked).judge(trial) is None
    assert too_few_bits(trial, asked) == ""


@pytest.mark.parametrize("products", [3, 4])
@pytest.mark.parametrize("case", [SQUARE, Case("padded", 64, 32, 32, alpha=-2.0, beta=0.25, pad=5)], ids=str)
def test_two_parts_are_named(case, products):
    def how(A, B):
        (a0, a1), (b0, b1) = (tuple(part.astype(np.float64) for part in parts(m, 2)) for m in (A, B))
        return a0 @ b0 + a0 @ b1 + a1 @ b0 + (a1 @ b1 if products == 4 else 0)

    trial = solve(Sgemm(), case, "float32", how=how)
    wrong = Sgemm().judge(trial)
    assert wrong is not None
    assert "that of two bfloat16 for each number, 16 bits" in Sgemm().guess(trial, wrong, TILE, again=None)


def test_what_is_nearly_right_is_not_blamed_on_an_index():
    rng = np.random.default_rng(1)
    trial = solve(Sgemm(), FACTORS, "float32", how=lambda A, B: A @ B + 1e-4 * rng.uniform(-1, 1, (A.shape[0], B.shape[1])))
    wrong = Sgemm().judge(trial)
    assert "Every element is nearly right" in Sgemm().guess(trial, wrong, TILE, again=None)
    assert nearly_right(trial, "bf16") == ""
    trial = solve(Sgemm(), FACTORS, "float32", how=lambda A, B: A[:, 1:] @ B[1:])
    assert "nearly right" not in Sgemm().guess(trial, Sgemm().judge(trial), TILE, again=None)


def test_another_mistake_is_not_blamed_on_the_format():
    trial = solve(Sgemm(), SQUARE, "float32", how=lambda A, B: B @ A)
    assert too_few_bits(trial, "") == ""
    trial.C[3] = np.nan
    assert too_few_bits(trial, "") == ""


MISTAKES = [
    ("operands are swapped", lambda A, B: B @ A),
    ("The product is transposed", lambda A, B: (A @ B).T),
    ("Each 16 × 16 of A is used transposed", lambda A, B: transposed(A) @ B),
    ("Each 16 × 16 of B is used transposed", lambda A, B: A @ transposed(B)),
]


def transposed(matrix):
    """Return a matrix with each 16 × 16 of it transposed."""
    rows, cols = matrix.shape
    return np.block([[matrix[i:i + 16, j:j + 16].T for j in range(0, cols, 16)] for i in range(0, rows, 16)])


@pytest.mark.parametrize("inputs", ["", "tf32", "bf16"])
@pytest.mark.parametrize(("says", "how"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_recognised_through_the_rounding(says, how, inputs):
    operation = Sgemm(inputs=inputs)
    trial = solve(operation, SQUARE, inputs or "float32", how=how)
    wrong = operation.judge(trial)
    guess = operation.guess(trial, wrong, TILE, again=None)
    assert says in guess
    assert ("fragment" in guess) == bool(inputs and "16 × 16" in says), "a kernel that rounds nothing has none"


def test_split_and_plain_float32_are_multiplied_as_they_are():
    A, B = np.float32([[1 / 3]]), np.float32([[257]])
    for inputs in ("", "bf16x3"):
        assert [float(m[0, 0]) for m in factors(A, B, inputs)] == [float(np.float32(1 / 3)), 257.0]
