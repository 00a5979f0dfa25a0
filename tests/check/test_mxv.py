"""The comparison of many products with one matrix, without a kernel: what is right, what NaN does, and which mistake is recognised."""

import numpy as np
import pytest

from course_lib.check.mxv import SIZE, Mxv, VectorsCase, all_cases, drawn, gate_case, vector_grid
from course_lib.check.transpose import UNTOUCHED, WrongElement

TILE = {"THREADS": 64}
SOME, TAIL = VectorsCase("some", 33), VectorsCase("tail", 150)
LAYOUTS = ["", "in", "out", "in out"]


def right(X, A):
    return X @ A.T


def solve(operation, case, how=right, seed=0, finite=False):
    """Return a trial with `how(vectors, matrix)` in its target; NaN leaves an element as it was."""
    trial = operation.trial(case, seed, finite=finite)
    return filled(trial, how(trial.vectors()[0].astype(np.float64), trial.matrix.astype(np.float64)))


def filled(trial, results):
    with np.errstate(invalid="ignore"):
        np.copyto(trial.vectors()[2], results.astype(np.float32), where=~np.isnan(results))
    return trial


def nobody(trial):
    raise AssertionError("a result without NaN is judged by itself")


@pytest.mark.parametrize("seed", [0, 9])
@pytest.mark.parametrize("by_component", LAYOUTS)
@pytest.mark.parametrize("case", all_cases(TILE), ids=str)
def test_a_right_result_is_right_and_one_nan_or_one_wrong_element_never_is(case, by_component, seed):
    operation = Mxv(by_component)
    assert operation.judge(solve(operation, case, seed=seed)) is None
    for value in (np.nan, 1e-4, np.inf, -np.inf):
        trial = solve(operation, case, seed=seed)
        trial.vectors()[2][-1, 5] += np.float32(value)
        wrong = operation.judge(trial)
        assert (wrong.row, wrong.col, int(wrong.mask.sum())) == (case.S - 1, 5, 1)
        assert str(wrong).startswith(f"out[{case.S - 1}][5] is ")


def test_an_untouched_result_is_wrong_everywhere():
    trial = Mxv().trial(SOME)
    assert (trial.target.view(np.uint32) == UNTOUCHED).all()
    assert Mxv().judge(trial).mask.all()


def test_a_product_that_is_left_out_is_more_than_rounding():
    """By hand: a bound of about 2 · 18 / 2^24 of at most 16 against one product of two numbers of which few are below 1/1000."""
    trial = Mxv().trial(VectorsCase("many", 389))
    X, A = trial.vectors()[0].astype(np.float64), trial.matrix.astype(np.float64)
    got = right(X, A)
    got[:, 7] -= X[:, 3] * A[7, 3]
    assert Mxv().judge(filled(trial, got)).mask[:, 7].sum() >= 388


def test_sums_in_float32_are_right_in_either_order():
    for order in (slice(None), slice(None, None, -1)):
        trial = Mxv().trial(TAIL)
        X, got = trial.vectors()[0], np.zeros((TAIL.S, SIZE), np.float32)
        for c in np.arange(SIZE)[order]:
            got += X[:, c:c + 1] * trial.matrix[:, c]
        assert Mxv().judge(filled(trial, got)) is None


def as_stored(X, other):
    """Return vectors as somebody sees them who takes the other layout."""
    flat = X.T.ravel() if "in" in other else X.ravel()
    return flat.reshape(X.shape) if "in" in other else flat.reshape(SIZE, -1).T


def misplaced(Y, other):
    """Return what out seems to hold when the results are stored in the other layout."""
    flat = Y.ravel() if "out" in other else Y.T.ravel()
    return flat.reshape(SIZE, -1).T if "out" in other else flat.reshape(Y.shape)


MISTAKES = [
    ("All of out is 0", "", SOME, lambda X, A: 0 * X),
    ("they are not multiplied by the matrix", "", SOME, lambda X, A: X),
    ("The matrix is used transposed", "", SOME, lambda X, A: X @ A),
    ("The matrix is used transposed", "out", SOME, lambda X, A: X @ A),
    ("The vectors are taken in the other layout: component c of vector h is in[h * N + c]", "", SOME, lambda X, A: as_stored(X, "") @ A.T),
    ("The vectors are taken in the other layout: component c of vector h is in[c * S + h]", "in", SOME,
     lambda X, A: as_stored(X, "in") @ A.T),
    ("The results are stored in the other layout: component r of result h is out[h * M + r]", "", SOME,
     lambda X, A: misplaced(X @ A.T, "")),
    ("The results are stored in the other layout: component r of result h is out[r * S + h]", "out", SOME,
     lambda X, A: misplaced(X @ A.T, "out")),
    ("both in the other layout: components are in[h * N + c] and out[h * M + r]", "", SOME,
     lambda X, A: misplaced(as_stored(X, "") @ A.T, "")),
    ("Only the last product of each sum is left", "", SOME, lambda X, A: X[:, 15:] @ A[:, 15:].T),
    ("Only the first 8 of the 16 components are summed", "", SOME, lambda X, A: X[:, :8] @ A[:, :8].T),
    ("The first 4 of the 16 components are missing", "", SOME, lambda X, A: X[:, 4:] @ A[:, 4:].T),
    ("out[0] holds the result of vector 1", "", SOME, lambda X, A: np.roll(X @ A.T, -1, axis=0)),
    ("out[2] holds the result of vector 0", "out", SOME, lambda X, A: np.where(np.arange(33)[:, None] == 2, X[:1] @ A.T, X @ A.T)),
    ("out[0][0] holds what belongs to out[0][15]", "", SOME, lambda X, A: (X @ A.T)[:, ::-1]),
    ("Only vectors from 128 on are concerned, in the partly filled last block of S = 150", "", TAIL,
     lambda X, A: np.vstack([X[:128] @ A.T, 7 + X[128:] @ A.T])),
]


@pytest.mark.parametrize(("says", "by_component", "case", "how"), MISTAKES, ids=[f"{m[0][:40]}-{m[1]}" for m in MISTAKES])
def test_a_mistake_is_recognised(says, by_component, case, how):
    operation = Mxv(by_component)
    trial = solve(operation, case, how)
    wrong = operation.judge(trial)
    assert isinstance(wrong, WrongElement)
    assert says in operation.guess(trial, wrong, TILE, nobody)


def test_what_is_no_known_mistake_gets_no_guess():
    trial = solve(Mxv(), TAIL, lambda X, A: X @ A.T + 0.5)
    assert Mxv().guess(trial, Mxv().judge(trial), TILE, nobody) == ""


def never(vectors, before, matrix):
    return np.where(np.arange(len(vectors))[:, None] < 128, vectors @ matrix.T, np.nan)


NANS = [
    ("352 of its elements were never written, out[128][0] first. Only vectors from 128 on are concerned, in the partly", never),
    ("The result is added to what stood in out before", lambda X, before, A: X @ A.T + before),
    ("in and out are exchanged", lambda X, before, A: before @ A.T),
    ("a result is made of what stood there: out is only written", lambda X, before, A: X @ A.T + 0 * before),
    ("", lambda X, before, A: X @ A.T + np.inf - np.inf),
]


@pytest.mark.parametrize(("says", "how"), NANS, ids=["never", "added", "exchanged", "read", "overflow"])
@pytest.mark.parametrize("by_component", LAYOUTS)
def test_ways_to_nan_are_told_apart(says, how, by_component):
    operation = Mxv(by_component)

    def launched(trial):
        vectors, before, _ = (x.astype(np.float64) for x in trial.vectors())
        with np.errstate(invalid="ignore"):
            results = how(vectors, before, trial.matrix.astype(np.float64))
        if how is never:
            return filled(trial, results)
        trial.vectors()[2][...] = results
        return trial

    trial = launched(operation.trial(TAIL))
    said = operation.guess(trial, operation.judge(trial), TILE, launched)
    assert says in said
    assert bool(says) == bool(said)
    assert operation.guess(trial, operation.judge(trial), TILE, lambda trial: None) == ""


def test_the_inputs_are_what_a_check_needs():
    cases = all_cases(TILE)
    assert len({case.name for case in cases}) == len(cases)
    assert {1, 31, 33, 63, 64, 65, 128, 389} == {case.S for case in cases}
    trial = Mxv().trial(SOME)
    assert np.isnan(trial.target).all()
    assert not trial.source.flags.writeable
    assert not trial.matrix.flags.writeable
    assert not np.allclose(trial.matrix, trial.matrix.T)
    assert len(np.unique(trial.source)) == trial.source.size
    assert not np.isnan(Mxv().trial(SOME, finite=True).target).any()
    assert (Mxv().trial(SOME, finite=True).source == trial.source).all()
    assert not np.allclose(Mxv().trial(SOME, 1).source, trial.source)


def test_sizes_of_drawn_inputs_and_of_the_launch():
    rng = np.random.default_rng(3)
    some = [case.S for _ in range(300) for case in drawn({"THREADS": 8}, rng)]
    assert set(some) == set(range(1, 26))
    assert vector_grid(TAIL, TILE) == (3, 1, 1)
    assert vector_grid(gate_case(TILE), TILE) == (2, 1, 1)
    assert Mxv().work(gate_case(TILE)) == 64
    assert Mxv().work(SOME) == 16.5


@pytest.mark.parametrize("by_component", LAYOUTS)
def test_arguments_and_layout(by_component):
    trial = Mxv(by_component).trial(SOME)
    S, source, target = trial.args
    assert (S, source is trial.source, target is trial.target) == (33, True, True)
    assert trial.constants["matrix"] is trial.matrix
    vectors, _, results = trial.vectors()
    assert vectors.shape == results.shape == (33, SIZE)
    assert vectors[4, 3] == source[3 * 33 + 4 if "in" in by_component else 4 * SIZE + 3]
    results[4, 3] = 7
    assert target[3 * 33 + 4 if "out" in by_component else 4 * SIZE + 3] == 7
