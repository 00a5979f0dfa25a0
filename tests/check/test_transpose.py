"""The comparison of transpositions itself, without a kernel: what is right, what NaN does, and which mistake is recognised."""

import numpy as np
import pytest

from course_lib.check.transpose import UNTOUCHED, Sheet, Transpose, WrongElement, all_cases, drawn, gate_case, tile_grid, whole_tile_cases

TILE = {"TILE": 8, "ROWS": 4}
SQUARE, WIDE = Sheet("square", 16, 16), Sheet("wide", 8, 24)
PADDED = Sheet("padded", 16, 8, pad=5)
TAIL = Sheet("tail", 9, 21, pad=2)


def right(A):
    return A.T


def solve(case, how, seed=0):
    """Return a trial with `how(source)` in its target; NaN leaves an element as it was."""
    trial = Transpose().trial(case, seed)
    source, target = trial.matrices()
    result = how(source)
    np.copyto(target, result, where=~np.isnan(result))
    return trial


def tiles(matrix, order):
    rows, cols = matrix.shape
    return matrix.reshape(rows // 8, 8, cols // 8, 8).transpose(order).reshape(rows, cols)


@pytest.mark.parametrize("seed", [0, 9])
@pytest.mark.parametrize("case", all_cases(TILE), ids=str)
def test_a_right_result_is_right_and_one_nan_or_one_wrong_element_never_is(case, seed):
    assert Transpose().judge(solve(case, right, seed)) is None
    for value in (np.nan, 0.75, np.inf):
        trial = solve(case, right, seed)
        trial.matrices()[1][-1, -1] += value
        wrong = Transpose().judge(trial)
        assert (wrong.row, wrong.col, int(wrong.mask.sum())) == (case.cols - 1, case.rows - 1, 1)
        assert f"out[{case.cols - 1}][{case.rows - 1}]" in str(wrong)


def test_nothing_is_rounded():
    trial = solve(SQUARE, right)
    target = trial.matrices()[1]
    target[2, 3] = np.nextafter(target[2, 3], np.float32(2))
    assert Transpose().judge(trial).mask.sum() == 1


MISTAKES = [
    ("It is a copy, and not transposed", SQUARE, lambda A: A),
    ("Each tile is transposed, but stays where it was", SQUARE, lambda A: tiles(A, (0, 3, 2, 1))),
    ("none is transposed inside", SQUARE, lambda A: tiles(A, (2, 1, 0, 3))),
    ("All of out is 0", WIDE, lambda A: 0 * A.T),
    ("out[0][0] holds in[0][1]; in[0][0] belongs there", WIDE, lambda A: np.roll(A.T, -1, axis=0)),
    ("Only rows of out from 16 on are concerned", TAIL, lambda A: np.vstack([A.T[:16], 7 + A.T[16:]])),
    ("Only columns of out from 8 on are concerned", TAIL, lambda A: np.hstack([A.T[:, :8], 7 + A.T[:, 8:]])),
    ("9 of its elements were never written, out[20][0] first", TAIL,
     lambda A: np.vstack([A.T[:20], np.full((1, 9), np.nan, np.float32)])),
]


@pytest.mark.parametrize(("says", "case", "how"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_recognised(says, case, how):
    trial = solve(case, how)
    wrong = Transpose().judge(trial)
    assert isinstance(wrong, WrongElement)
    assert says in Transpose().guess(trial, wrong, TILE)


def test_a_nan_that_was_read_between_rows_is_told_from_one_that_was_left():
    trial = solve(PADDED, right)
    trial.matrices()[1][3, 4] = trial.source[PADDED.cols]
    assert "rows begin ld_in, ld_out elements apart" in Transpose().guess(trial, Transpose().judge(trial), TILE)
    trial.target.view(np.uint32)[:] = UNTOUCHED
    assert "never written" in Transpose().guess(trial, Transpose().judge(trial), TILE)


def test_rows_written_one_behind_the_other_are_recognised():
    trial = Transpose().trial(PADDED)
    source, _ = trial.matrices()
    trial.target[:source.size] = source.T.ravel()
    assert "they begin ld_out elements apart" in Transpose().guess(trial, Transpose().judge(trial), TILE)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_store_between_the_rows_is_found_even_of_nan(value):
    trial = solve(PADDED, right)
    trial.target[PADDED.rows] = value
    assert "1 element between the rows of out overwritten" in Transpose().judge(trial)


def test_the_inputs_are_what_a_check_needs():
    cases = all_cases(TILE)
    assert len({case.name for case in cases}) == len(cases)
    assert cases[:4] == whole_tile_cases(TILE)
    assert {1, 7, 8, 9, 16} <= {case.rows for case in cases} & {case.cols for case in cases}
    assert any(case.rows > case.cols for case in cases)
    assert any(case.cols > case.rows for case in cases)
    assert any(case.pad and case.rows % 8 and case.cols % 8 for case in cases)
    trial = Transpose().trial(SQUARE)
    source, target = trial.matrices()
    assert np.isnan(target).all()
    assert len(np.unique(source)) == source.size
    assert not np.allclose(source, source.T)
    assert not trial.source.flags.writeable


def test_sizes_of_drawn_inputs_and_of_the_launch():
    rng = np.random.default_rng(3)
    some = [case for _ in range(60) for case in drawn(TILE, rng)]
    assert {case.rows for case in some} == {case.cols for case in some} == set(range(1, 26))
    assert len({case.pad for case in some}) == 7
    assert tile_grid(TAIL, TILE) == (3, 2, 1)
    assert tile_grid(gate_case(TILE), TILE) == (2, 2, 1)
    assert Transpose().work(gate_case({"TILE": 32})) == 128
    assert Transpose().work(Sheet("odd", 3, 5)) == 15 / 32


def test_the_arguments_are_those_of_the_signature():
    trial = Transpose().trial(PADDED)
    names = [part.split()[-1] for part in Transpose.signature.split(",")]
    given = dict(zip(names, trial.args, strict=True))
    assert [given[name] for name in ("rows", "cols", "ld_in", "ld_out")] == [16, 8, 13, 21]
    assert given["in"] is trial.source
    assert given["out"] is trial.target
