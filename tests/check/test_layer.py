"""A layer and its way back, without a kernel: what is right, what NaN does, which mistake is recognised, what the inputs are."""

import numpy as np
import pytest

from course_lib.check.layer import (
    SLOPES,
    TILE,
    UNTOUCHED,
    Back,
    Layer,
    LayerCase,
    batches,
    drawn,
    forward_batches,
    leaky,
)
from course_lib.check.sgemm import WrongProduct

SMALL = {"BM": 16, "BN": 16, "BK": 16}
SQUARE, PADDED, TAIL = LayerCase("square", 32, 32, 32), LayerCase("padded", 16, 24, 8, pad=3), LayerCase("tail", 16, 16, 17)
HIDDEN = LayerCase("NaN", 16, 24, 8, nan=True)
RELU, LEAKY, BACK = Layer(), Layer(leaky=True), Back("B")


def act(z, slope):
    return np.maximum(z, 0) + slope * np.minimum(z, 0)


def solve(operation, case, how, seed=0):
    """Return a trial with `how(A, B, bias or H, slope)` in its C."""
    trial = operation.trial(case, seed)
    A, B, *_ = trial.matrices()
    more = trial.outputs() if operation is BACK else trial.bias
    trial.matrices()[3][...] = how(*(m.astype(np.float64) for m in (A, B, more)), case.slope)
    return trial


def forward(A, B, bias, slope):
    return act(A @ B + bias, slope)


def backward(A, B, H, slope):
    return (A * (H > 0)) @ B


RIGHT = [*((RELU, case, forward) for case in forward_batches(SMALL)), *((LEAKY, case, forward) for case in leaky(forward_batches(SMALL))),
         *((BACK, case, backward) for case in batches(SMALL))]


@pytest.mark.parametrize("seed", [0, 9])
@pytest.mark.parametrize(("operation", "case", "how"), RIGHT, ids=[f"{type(m[0]).__name__}-{m[1]}" for m in RIGHT])
def test_a_right_result_is_right_and_one_nan_or_one_wrong_element_never_is(operation, case, how, seed):
    assert operation.judge(solve(operation, case, how, seed)) is None
    for value in (np.nan, 0.01, np.inf):
        trial = solve(operation, case, how, seed)
        trial.matrices()[3][-1, -1] += value
        wrong = operation.judge(trial)
        assert (wrong.row, wrong.col, int(wrong.mask.sum())) == (case.M - 1, case.N - 1, 1)


def test_float32_is_within_rounding_and_half_precision_is_not():
    for kind, passes in ((np.float32, True), (np.float16, False)):
        def how(A, B, bias, slope, kind=kind):
            return act((A.astype(kind) @ B.astype(kind) + bias.astype(kind)).astype(np.float64), slope)
        assert (RELU.judge(solve(RELU, LayerCase("long", 16, 16, 500), how)) is None) == passes


def test_a_nan_must_come_out_and_must_be_written():
    trial = solve(RELU, HIDDEN, forward)
    assert np.isnan(trial.matrices()[3]).any(axis=1).sum() == 1
    assert RELU.judge(trial) is None
    C = trial.matrices()[3]
    row, = np.flatnonzero(np.isnan(C[:, 0]))
    C[row] = np.fmax(C[row], 0)
    wrong = RELU.judge(trial)
    assert (wrong.row, wrong.mask.sum()) == (row, HIDDEN.N)
    assert "must be NaN too" in RELU.guess(trial, wrong, SMALL)
    trial.view("C", trial.C.view(np.uint32))[row] = UNTOUCHED
    wrong = RELU.judge(trial)
    assert (wrong.row, wrong.mask.sum()) == (row, HIDDEN.N)
    assert f"24 elements still hold it, C[{row}][0] first" in RELU.guess(trial, wrong, SMALL)


def products(A, B, slope):
    return act(A[:, :, None] * B[None], slope).sum(axis=1)


def by_tiles(A, B, slope):
    total = 0
    for k in range(0, A.shape[1], 16):
        total = act(total + A[:, k:k + 16] @ B[k:k + 16], slope)
    return total


SLOPED = leaky([SQUARE])[0]
MISTAKES = [
    ("All of C is 0", RELU, SQUARE, lambda A, B, b, s: 0 * A @ B),
    ("the bare product", RELU, SQUARE, lambda A, B, b, s: A @ B),
    ("The bias is not added", RELU, SQUARE, lambda A, B, b, s: act(A @ B, s)),
    ("The bias is not added", LEAKY, SLOPED, lambda A, B, b, s: act(A @ B, s)),
    ("The activation is not applied", RELU, PADDED, lambda A, B, b, s: A @ B + b),
    ("The activation comes before the bias", RELU, SQUARE, lambda A, B, b, s: act(A @ B, s) + b),
    ("There is an activation before the bias", RELU, SQUARE, lambda A, B, b, s: act(act(A @ B, s) + b, s)),
    ("The bias is taken by row", RELU, SQUARE, lambda A, B, b, s: act(A @ B + b[:, None], s)),
    ("The bias is taken by row", RELU, PADDED, lambda A, B, b, s: act(A @ B + b[:16, None], s)),
    ("for each tile along K", RELU, SQUARE, lambda A, B, b, s: act(A @ B + 2 * b, s)),
    ("for each k", LEAKY, SLOPED, lambda A, B, b, s: act(A @ B + 32 * b, s)),
    ("twice", RELU, LayerCase("short", 16, 16, 8), lambda A, B, b, s: act(A @ B + 2 * b, s)),
    ("applied to each product", RELU, SQUARE, lambda A, B, b, s: products(A, B, s) + b),
    ("applied to each product", LEAKY, SLOPED, lambda A, B, b, s: act(products(A, B, s) + b, s)),
    ("after each tile along K", RELU, SQUARE, lambda A, B, b, s: act(by_tiles(A, B, s) + b, s)),
    ("below 0 becomes 0", LEAKY, SLOPED, lambda A, B, b, s: act(A @ B + b, 0)),
    ("slope multiplies all", LEAKY, SLOPED, lambda A, B, b, s: s * (A @ B + b)),
    ("slope multiplies what is above", LEAKY, SLOPED, lambda A, B, b, s: np.minimum(A @ B + b, 0) + s * np.maximum(A @ B + b, 0)),
    ("The product is lost", RELU, SQUARE, lambda A, B, b, s: act(0 * A @ B + b, s)),
    ("The result is transposed", RELU, SQUARE, lambda A, B, b, s: act(A @ B + b, s).T),
    ("operands are swapped", RELU, SQUARE, lambda A, B, b, s: act(B @ A + b, s)),
    ("The sum stops at k = 16", RELU, TAIL, lambda A, B, b, s: act(A[:, :16] @ B[:16] + b, s)),
    ("Only rows from 32 on are wrong", RELU, LayerCase("edge", 33, 16, 16),
     lambda A, B, b, s: np.vstack([forward(A[:32], B, b, s), np.full((1, 16), 9)])),
    ("H is not asked", BACK, SQUARE, lambda A, B, H, s: A @ B),
    ("the wrong way round", BACK, SQUARE, lambda A, B, H, s: (A * (H == 0)) @ B),
    ("A is multiplied by H", BACK, PADDED, lambda A, B, H, s: (A * H) @ B),
    ("The result is set to 0", BACK, SQUARE, lambda A, B, H, s: (A @ B) * (H > 0)),
    ("H is read transposed", BACK, SQUARE, lambda A, B, H, s: (A * (H.T > 0)) @ B),
    ("its element (k, col) is B[col * ldb + k]", BACK, SQUARE, lambda A, B, H, s: (A * (H > 0)) @ B.T),
]


@pytest.mark.parametrize(("says", "operation", "case", "how"), MISTAKES, ids=[f"{m[0]}-{m[2].name}-{m[1]}" for m in MISTAKES])
def test_a_mistake_is_recognised(says, operation, case, how):
    trial = solve(operation, case, how)
    wrong = operation.judge(trial)
    assert isinstance(wrong, WrongProduct)
    assert says in operation.guess(trial, wrong, SMALL)


@pytest.mark.parametrize("operation", [RELU, LEAKY, BACK], ids=str)
def test_a_c_that_is_read_is_told_from_one_that_is_left_and_from_a_gap(operation):
    square, padded = (leaky([case])[0] if operation is LEAKY else case for case in (SQUARE, PADDED))
    trial = solve(operation, square, lambda *_: np.nan)
    assert "what came is made of what C held" in operation.guess(trial, operation.judge(trial), SMALL)
    trial = operation.trial(square)
    assert "1024 elements still hold it, C[0][0] first: they were never written" in operation.guess(trial, operation.judge(trial), SMALL)
    trial = solve(operation, padded, lambda *_: np.nan)
    assert "NaN stands" in operation.guess(trial, operation.judge(trial), SMALL)
    trial = solve(operation, padded, backward if operation is BACK else forward)
    trial.C[padded.N] = 0
    assert "1 element between the rows of C overwritten" in operation.judge(trial)


def test_a_result_that_is_off_by_little_is_called_no_mistake_that_it_is_not():
    trial = solve(RELU, SQUARE, lambda A, B, b, s: forward(A, B, b, s) * (1 + 3e-5))
    wrong = RELU.judge(trial)
    assert wrong.mask.any()
    assert RELU.guess(trial, wrong, SMALL) == ""


@pytest.mark.parametrize(("operation", "case"), [(RELU, PADDED), (LEAKY, leaky([PADDED])[0]), (BACK, PADDED)], ids=str)
def test_the_arguments_are_those_of_the_signature(operation, case):
    trial = operation.trial(case)
    given = dict(zip((part.split()[-1] for part in operation.signature.split(",")), trial.args, strict=True))
    assert [given[name] for name in ("M", "N", "K")] == [16, 24, 8]
    assert [int(given[f"ld{name}"]) for name in "abc"] == [11, 11 if operation is BACK else 27, 27]
    assert given.get("ldh", 13) == 13
    assert given.get("slope", SLOPES[0]) == SLOPES[0]
    assert given["C"] is trial.C
    assert all(not given[name].flags.writeable for name in ("A", "B", "bias", "H") if name in given)
    given = operation.trial(SQUARE if operation is not LEAKY else SLOPED)
    assert not given.A.flags.writeable


def test_the_inputs_are_what_a_check_needs():
    cases = forward_batches(TILE)
    assert len({case.name for case in cases}) == len(cases)
    assert all({1, 31, 32, 33} <= {getattr(case, axis) for case in cases} for axis in "MNK")
    assert sum(case.nan for case in cases) == 1
    assert any(len({case.M, case.N, case.K}) == 3 and case.pad for case in cases)
    assert {case.slope for case in leaky(cases)} == set(SLOPES)
    assert all((case.alpha, case.beta, case.slope) == (1, 0, 0) for case in cases)
    trial = BACK.trial(PADDED)
    assert np.isnan(trial.C).all()
    assert 0.3 < (trial.outputs() > 0).mean() < 0.7
    assert (trial.outputs() >= 0).all()
    assert np.isnan(trial.H).sum() == 15 * 5
    z = RELU.trial(SQUARE)
    A, B, *_ = z.matrices()
    assert 0.3 < (A @ B + z.bias > 0).mean() < 0.7


def test_sizes_of_drawn_inputs():
    rng = np.random.default_rng(3)
    some = [case for _ in range(200) for case in drawn(TILE, rng)]
    assert {case.M for case in some} == {case.K for case in some} == set(range(1, 100))
    assert len({case.pad for case in some}) == 7
