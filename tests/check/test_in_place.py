"""The comparison of what is changed in place, and of sums of rows: what is right, and which mistake is recognised."""

import numpy as np
import pytest

from course_lib.check import in_place, row_sums
from course_lib.check.in_place import InPlace
from course_lib.check.row_sums import RowSums
from course_lib.check.transpose import Sheet, pieces

TILE = {"TILE": 8, "ROWS": 4}
SQUARE, PADDED = Sheet("square", 16, 16), Sheet("padded", 13, 13, pad=5)


def changed(operation, case, how, seed=0):
    trial = operation.trial(case, seed)
    before, now = trial.matrices()
    now[...] = how(before.astype(np.float64)).astype(np.float32)
    return trial


def tiles(matrix, order):
    n = len(matrix)
    return matrix.reshape(n // 8, 8, n // 8, 8).transpose(order).reshape(n, n)


@pytest.mark.parametrize("averages", [False, True])
@pytest.mark.parametrize("case", in_place.all_cases(TILE), ids=str)
def test_a_right_matrix_is_right_and_one_wrong_element_never_is(averages, case):
    operation = InPlace(averages)
    right = (lambda A: (A + A.T) / 2) if averages else (lambda A: A.T)
    assert operation.judge(changed(operation, case, right, seed=3)) is None
    for value in (np.nan, 0.75, np.inf):
        trial = changed(operation, case, right)
        trial.matrices()[1][-1, -1] += value
        wrong = operation.judge(trial)
        assert (wrong.row, wrong.col, int(wrong.mask.sum())) == (case.rows - 1, case.rows - 1, 1)


@pytest.mark.parametrize(("says", "averages", "case", "how"), [
    ("Nothing has changed", False, SQUARE, lambda A: A),
    ("Each tile is transposed, but stays", False, SQUARE, lambda A: tiles(A, (0, 3, 2, 1))),
    ("none is transposed inside", False, SQUARE, lambda A: tiles(A, (2, 1, 0, 3))),
    ("Only the tiles on the diagonal", False, SQUARE, lambda A: np.where(np.kron(np.eye(2), np.ones((8, 8))), A.T, A)),
    ("What lies below the diagonal is right, what lies above is not", False, PADDED, lambda A: np.tril(A.T) + np.triu(A, 1)),
    ("What lies above the diagonal is right, what lies below is not", True, PADDED, lambda A: np.triu((A + A.T) / 2) + np.tril(A, -1)),
    ("transposed, but not averaged", True, SQUARE, lambda A: A.T),
    ("The sum is not halved", True, PADDED, lambda A: A + A.T),
    ("Nothing has changed", True, PADDED, lambda A: A),
])
def test_a_mistake_is_recognised(says, averages, case, how):
    operation = InPlace(averages)
    trial = changed(operation, case, how)
    assert says in operation.guess(trial, operation.judge(trial), TILE)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_store_between_the_rows_is_found_even_of_nan(value):
    trial = changed(InPlace(), PADDED, lambda A: A.T)
    trial.A.view(np.uint32)[13:14] = np.float32(value).view(np.uint32) ^ 1
    assert "1 elements between the rows of A overwritten" in InPlace().judge(trial)


def test_a_nan_that_was_read_between_rows_is_told():
    trial = changed(InPlace(), PADDED, lambda A: A.T)
    trial.matrices()[1][2, 2] = np.nan
    assert "rows begin lda elements apart" in InPlace().guess(trial, InPlace().judge(trial), TILE)


SUMMED = [("sums of the columns", SQUARE, lambda M: M.sum(axis=0)), ("Only the first tile", SQUARE, lambda M: M[:, :8].sum(axis=1)),
          ("The partly filled last tile of each row is missing", Sheet("tail", 8, 21), lambda M: M[:, :16].sum(axis=1)),
          ("summed down their columns", Sheet("wide", 8, 24), lambda M: M.sum(axis=0).reshape(3, 8).sum(axis=0)),
          ("2 of the sums are NaN", Sheet("tall", 9, 8), lambda M: np.where(np.arange(9) < 7, M.sum(axis=1), np.nan))]


@pytest.mark.parametrize(("says", "case", "how"), SUMMED, ids=[says for says, _, _ in SUMMED])
def test_a_wrong_sum_is_recognised(says, case, how):
    trial = RowSums().trial(case)
    trial.sums[...] = how(trial.matrix())
    wrong = RowSums().judge(trial)
    assert "sums are wrong" in str(wrong)
    assert says in RowSums().guess(trial, wrong, TILE)


@pytest.mark.parametrize("case", row_sums.all_cases({"TILE": 32}), ids=str)
def test_sums_in_any_order_are_right_and_a_missing_term_never_is(case):
    trial, rng = RowSums().trial(case), np.random.default_rng(1)
    matrix = trial.matrix().astype(np.float32)
    for _ in range(3):
        trial.sums[...] = np.add.accumulate(matrix[:, rng.permutation(case.cols)], axis=1)[:, -1]
        assert RowSums().judge(trial) is None
    smallest = np.abs(matrix).argmin(axis=1)
    trial.sums[...] -= matrix[np.arange(case.rows), smallest]
    if np.abs(matrix).min() > 1e-3:
        assert RowSums().judge(trial).mask.all()
    trial.sums[-1] = np.nan
    assert RowSums().judge(trial).mask[-1]


def test_arguments_and_inputs():
    trial = InPlace().trial(PADDED)
    assert (trial.args[0], trial.args[2]) == (13, 18)
    assert trial.args[1] is trial.A
    trial = RowSums().trial(Sheet("one", 3, 5, pad=2))
    assert [int(trial.args[i]) for i in (0, 1, 3)] == [3, 5, 7]
    assert np.isnan(trial.sums).all()
    assert row_sums.grid(PADDED, TILE) == (2, 1, 1)
    assert InPlace().work(SQUARE) == RowSums().work(SQUARE) == pieces(SQUARE) == 8
    rng = np.random.default_rng(3)
    assert {case.rows for _ in range(60) for case in in_place.drawn(TILE, rng)} == set(range(1, 26))
