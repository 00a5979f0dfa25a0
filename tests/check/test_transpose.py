"""The comparison of transpositions itself, without a kernel: what is right, what NaN does, and which mistake is recognised."""

import dataclasses

import numpy as np
import pytest

from course_lib.check.transpose import (
    UNTOUCHED,
    Sheet,
    Transpose,
    Wrong,
    adding_cases,
    adding_drawn,
    all_cases,
    drawn,
    gate_case,
    tile_grid,
)

TILE = {"TILE": 8, "ROWS": 4}
SQUARE, WIDE = Sheet("square", 16, 16), Sheet("wide", 8, 24, alpha=1.5)
PADDED = Sheet("padded", 16, 8, alpha=-2.0, pad=5)
TAIL = Sheet("tail", 9, 21, pad=2)


def right(A, B, alpha):
    return alpha * A.T + B


def solve(operation, case, how, seed=0):
    """Return a trial with `how(source, B, alpha)` in its target; NaN leaves an element as it was."""
    trial = operation.trial(case, seed)
    source, added, target = trial.matrices()
    result = how(source.astype(np.float64), added.astype(np.float64), case.alpha if operation.adds else 1.0)
    with np.errstate(invalid="ignore"):
        np.copyto(target, result.astype(np.float32), where=~np.isnan(result))
    return trial


def tiles(matrix, order):
    rows, cols = matrix.shape
    return matrix.reshape(rows // 8, 8, cols // 8, 8).transpose(order).reshape(rows, cols)


@pytest.mark.parametrize("seed", [0, 9])
@pytest.mark.parametrize(("adds", "case"), [*((False, case) for case in all_cases(TILE)), *((True, case) for case in adding_cases(TILE))],
                         ids=str)
def test_a_right_result_is_right_and_one_nan_or_one_wrong_element_never_is(adds, case, seed):
    operation = Transpose(adds)
    assert operation.judge(solve(operation, case, right, seed)) is None
    for value in (np.nan, 0.75, np.inf):
        trial = solve(operation, case, right, seed)
        trial.matrices()[2][-1, -1] += value
        wrong = operation.judge(trial)
        assert (wrong.row, wrong.col, int(wrong.mask.sum())) == (case.cols - 1, case.rows - 1, 1)
        assert f"{operation.names[1]}[{case.cols - 1}][{case.rows - 1}]" in str(wrong)


def test_nothing_is_rounded_in_a_plain_transposition_and_little_in_a_sum():
    plain, sums = solve(Transpose(), SQUARE, right), solve(Transpose(True), WIDE, right)
    for trial in (plain, sums):
        target = trial.matrices()[2]
        target[2, 3] = np.nextafter(target[2, 3], np.float32(2))
    assert Transpose().judge(plain).mask.sum() == 1
    assert Transpose(True).judge(sums) is None
    sums.matrices()[2][2, 3] += 1e-5
    assert Transpose(True).judge(sums).mask.sum() == 1


MISTAKES = [
    ("It is a copy and not turned", False, SQUARE, lambda A, B, alpha: A),
    ("It is a copy and not turned", True, SQUARE, lambda A, B, alpha: A + B),
    ("Each tile is turned, but stays where it was", False, SQUARE, lambda A, B, alpha: tiles(A, (0, 3, 2, 1))),
    ("none is turned inside", False, SQUARE, lambda A, B, alpha: tiles(A, (2, 1, 0, 3))),
    ("All of out is 0", False, WIDE, lambda A, B, alpha: 0 * A.T),
    ("out[0][0] holds in[0][1]; in[0][0] belongs there", False, WIDE, lambda A, B, alpha: np.roll(A.T, -1, axis=0)),
    ("C[0][0] has A[1][0]; A[0][0] belongs there", True, PADDED, lambda A, B, alpha: alpha * np.roll(A.T, -1, axis=1) + B),
    ("C[0][0] has B[0][1]; B[0][0] belongs there", True, PADDED, lambda A, B, alpha: alpha * A.T + np.roll(B, -1, axis=1)),
    ("alpha is not applied", True, WIDE, lambda A, B, alpha: A.T + B),
    ("B is not added", True, WIDE, lambda A, B, alpha: alpha * A.T),
    ("alpha multiplies B too", True, WIDE, lambda A, B, alpha: alpha * (A.T + B)),
    ("B is added transposed", True, SQUARE, lambda A, B, alpha: alpha * A.T + B.T),
    ("Only rows of out from 16 on are concerned", False, TAIL,
     lambda A, B, alpha: np.vstack([A.T[:16], 7 + A.T[16:]])),
    ("Only columns of out from 8 on are concerned", False, TAIL, lambda A, B, alpha: np.hstack([A.T[:, :8], 7 + A.T[:, 8:]])),
    ("9 of its elements were never written, out[20][0] first", False, TAIL,
     lambda A, B, alpha: np.vstack([A.T[:20], np.full((1, 9), np.nan)])),
]


@pytest.mark.parametrize(("says", "adds", "case", "how"), MISTAKES, ids=[f"{m[0]}-{m[1]}" for m in MISTAKES])
def test_a_mistake_is_recognised(says, adds, case, how):
    operation = Transpose(adds)
    trial = solve(operation, case, how)
    wrong = operation.judge(trial)
    assert isinstance(wrong, Wrong)
    assert says in operation.guess(trial, wrong, TILE)


def test_a_nan_that_was_read_between_rows_is_told_from_one_that_was_left():
    operation = Transpose()
    trial = solve(operation, PADDED, right)
    trial.matrices()[2][3, 4] = trial.source[PADDED.cols]
    assert "rows begin ld_in, ld_out elements apart" in operation.guess(trial, operation.judge(trial), TILE)
    trial.target.view(np.uint32)[:] = UNTOUCHED
    assert "never written" in operation.guess(trial, operation.judge(trial), TILE)


@pytest.mark.parametrize("adds", [False, True])
def test_rows_written_one_behind_the_other_are_recognised(adds):
    operation = Transpose(adds)
    trial = operation.trial(PADDED)
    source, added, _ = trial.matrices()
    trial.target[:source.size] = right(source, added, PADDED.alpha if adds else 1.0).astype(np.float32).ravel()
    assert f"they begin {'ldc' if adds else 'ld_out'} elements apart" in operation.guess(trial, operation.judge(trial), TILE)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_store_between_the_rows_is_found_even_of_nan(value):
    trial = solve(Transpose(), PADDED, right)
    trial.target[PADDED.rows] = value
    assert "1 element between the rows of out overwritten" in Transpose().judge(trial)


def test_the_inputs_are_what_a_check_needs():
    cases = all_cases(TILE)
    assert len({case.name for case in cases}) == len(cases)
    assert {1, 7, 8, 9, 16} <= {case.rows for case in cases} & {case.cols for case in cases}
    assert any(case.rows > case.cols for case in cases)
    assert any(case.cols > case.rows for case in cases)
    assert any(case.pad and case.rows % 8 and case.cols % 8 for case in cases)
    assert {case.alpha for case in adding_cases(TILE)} > {1.0}
    assert [dataclasses.replace(case, alpha=1.0) for case in adding_cases(TILE)] == list(cases)
    trial = Transpose(True).trial(SQUARE)
    source, added, target = trial.matrices()
    assert np.isnan(target).all()
    assert len(np.unique(source)) == source.size
    assert not np.allclose(source, source.T)
    assert not trial.source.flags.writeable
    assert not trial.added.flags.writeable


def test_sizes_of_drawn_inputs_and_of_the_launch():
    rng = np.random.default_rng(3)
    some = [case for _ in range(30) for case in (*drawn(TILE, rng), *adding_drawn(TILE, rng))]
    assert {case.rows for case in some} == {case.cols for case in some} == set(range(1, 26))
    assert len({case.pad for case in some}) == 7
    assert tile_grid(TAIL, TILE) == (3, 2, 1)
    assert tile_grid(gate_case(TILE), TILE) == (2, 2, 1)
    assert Transpose().work(gate_case({"TILE": 32})) == 128
    assert Transpose().work(Sheet("odd", 3, 5)) == 15 / 32


def test_the_arguments_are_those_of_the_signature():
    for operation in (Transpose(), Transpose(True)):
        trial = operation.trial(PADDED)
        names = [part.split()[-1] for part in operation.signature.split(",")]
        given = dict(zip(names, trial.args, strict=True))
        assert (given["rows"], given["cols"]) == (16, 8)
        assert [given[name] for name in names if name.startswith("ld")] == ([13, 21, 21] if operation.adds else [13, 21])
        assert given[operation.names[0]] is trial.source
        assert given[operation.names[1]] is trial.target
        assert given.get("alpha", -2.0) == -2.0
