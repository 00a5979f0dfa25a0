"""The comparison itself, without a kernel: what is right, what NaN does, and which mistake is recognised."""

import numpy as np
import pytest

from course_lib.check.case import Case, all_cases, gate_case, whole_tile_cases
from course_lib.check.sgemm import Sgemm, WrongProduct

TILE = {"BM": 16, "BN": 16, "BK": 16}
SQUARE = Case("square", 32, 32, 32)
FACTORS = Case("factors", 32, 32, 32, alpha=1.5, beta=-0.5)
TAIL = Case("tail", 16, 16, 17)


def solve(trial, how):
    """Write `how(A, B, C, alpha, beta)` into the trial's C and return it."""
    A, B, before, C = trial.matrices()
    C[...] = how(*(m.astype(np.float64) for m in (A, B, before)), trial.case.alpha, trial.case.beta)
    return trial


def right(A, B, C, alpha, beta):
    return alpha * A @ B + (beta * C if beta else 0)


MISTAKES = [
    ("Each wrong element is 2 times what it should be", SQUARE, lambda A, B, C, alpha, beta: 2 * A @ B),
    ("holds what belongs to C[0][1]", SQUARE, lambda A, B, C, alpha, beta: np.roll(A @ B, -1, axis=1)),
    ("operands are swapped", SQUARE, lambda A, B, C, alpha, beta: B @ A),
    ("The product is transposed", SQUARE, lambda A, B, C, alpha, beta: (A @ B).T),
    ("A is read transposed", FACTORS, lambda A, B, C, alpha, beta: right(A.T, B, C, alpha, beta)),
    ("B is read transposed", FACTORS, lambda A, B, C, alpha, beta: right(A, B.T, C, alpha, beta)),
    ("A and B are both read transposed", SQUARE, lambda A, B, C, alpha, beta: A.T @ B.T),
    ("Each tile of A is used transposed", Case("one row of tiles", 16, 32, 48),
     lambda A, B, C, alpha, beta: np.hstack([A[:, k:k + 16].T for k in (0, 16, 32)]) @ B),
    ("Each tile of B is used transposed", Case("one column of tiles", 32, 16, 48),
     lambda A, B, C, alpha, beta: A @ np.vstack([B[k:k + 16].T for k in (0, 16, 32)])),
    ("alpha is not applied", FACTORS, lambda A, B, C, alpha, beta: right(A, B, C, 1, beta)),
    ("beta C is not added", FACTORS, lambda A, B, C, alpha, beta: right(A, B, C, alpha, 0)),
    ("alpha multiplies beta C", FACTORS, lambda A, B, C, alpha, beta: right(A, B, C, alpha, alpha * beta)),
    ("C is added once more", FACTORS, lambda A, B, C, alpha, beta: right(A, B, C, alpha, beta + 1)),
    ("All of C is 0", SQUARE, lambda A, B, C, alpha, beta: np.zeros_like(C)),
    ("stops at k = 16", TAIL, lambda A, B, C, alpha, beta: A[:, :16] @ B[:16]),
    ("Only the first tile", SQUARE, lambda A, B, C, alpha, beta: A[:, :16] @ B[:16]),
    ("Only the last tile", Case("long", 32, 32, 48), lambda A, B, C, alpha, beta: A[:, 32:] @ B[32:]),
    ("The first tile along K is missing", Case("long", 32, 32, 48), lambda A, B, C, alpha, beta: A[:, 16:] @ B[16:]),
    ("acc must be added to", FACTORS, lambda A, B, C, alpha, beta: right(A[:, 31:], B[31:], C, alpha, beta)),
    ("elements beyond K must count as 0", TAIL, lambda A, B, C, alpha, beta: A @ B + A @ B**2),
]


@pytest.mark.parametrize(("says", "case", "how"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_recognised(says, case, how):
    trial = solve(Sgemm().trial(case), how)
    wrong = Sgemm().judge(trial)
    assert isinstance(wrong, WrongProduct)
    assert says in Sgemm().guess(trial, wrong, TILE, again=None)


READS_OR_LEAVES_C = [
    ("added to what C held", lambda A, B, C, alpha, beta: A @ B + C),
    ("C must not be read", lambda A, B, C, alpha, beta: A @ B + 0 * C),
    ("32 elements were never written, C[31][0] first", lambda A, B, C, alpha, beta: np.vstack([(A @ B)[:31], C[31:]])),
]


@pytest.mark.parametrize(("says", "how"), READS_OR_LEAVES_C, ids=[m[0] for m in READS_OR_LEAVES_C])
def test_nan_in_c_is_told_apart(says, how):
    trial = solve(Sgemm().trial(SQUARE), how)
    wrong = Sgemm().judge(trial)
    assert np.isnan(wrong.got)
    assert says in Sgemm().guess(trial, wrong, TILE, again=lambda other: solve(other, how))


@pytest.mark.parametrize("case", all_cases(TILE), ids=str)
def test_a_right_result_is_right_and_a_nan_never_is(case):
    trial = solve(Sgemm().trial(case, seed=3), right)
    assert Sgemm().judge(trial) is None
    trial.matrices()[3][-1, -1] = np.nan
    wrong = Sgemm().judge(trial)
    assert (wrong.row, wrong.col) == (case.M - 1, case.N - 1)
    assert int(wrong.mask.sum()) == 1


@pytest.mark.parametrize("transposed", ["A", "B", "ABC"])
@pytest.mark.parametrize("case", all_cases(TILE)[3:], ids=str)
def test_a_turned_matrix_is_stored_column_by_column(transposed, case):
    trial = Sgemm(transposed).trial(case, seed=3)
    trial.C[...] = plain_sgemm(*trial.args, transposed)
    assert Sgemm(transposed).judge(trial) is None


@pytest.mark.parametrize("transposed", ["A", "B", "ABC"])
def test_a_turned_matrix_taken_as_row_major_is_wrong(transposed):
    trial = Sgemm(transposed).trial(SQUARE)
    trial.C[...] = plain_sgemm(*trial.args, "")
    assert isinstance(Sgemm(transposed).judge(trial), WrongProduct)


def plain_sgemm(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, transposed):
    """Compute C as a kernel would, element by element of the flat arrays; return what C then holds."""
    def at(name, row, col, ld):
        return col * ld + row if name in transposed else row * ld + col

    out = C.copy()
    for row in range(M):
        for col in range(N):
            product = sum(float(A[at("A", row, k, lda)]) * float(B[at("B", k, col, ldb)]) for k in range(K))
            place = at("C", row, col, ldc)
            out[place] = alpha * product + (beta * C[place] if beta else 0)
    return out


TURNED_MISTAKES = [
    ("A", "its element (row, k) is A[k * lda + row]", lambda A, B: A.T @ B),
    ("B", "its element (k, col) is B[col * ldb + k]", lambda A, B: A @ B.T),
    ("ABC", "or all three matrices are taken as row-major", lambda A, B: B @ A),
]


@pytest.mark.parametrize(("transposed", "says", "how"), TURNED_MISTAKES, ids=[m[0] for m in TURNED_MISTAKES])
def test_a_mistake_with_a_turned_matrix_is_told_in_its_own_index(transposed, says, how):
    trial = solve(Sgemm(transposed).trial(SQUARE), lambda A, B, C, alpha, beta: how(A, B))
    assert says in Sgemm(transposed).guess(trial, Sgemm(transposed).judge(trial), TILE, again=None)


def test_a_store_between_the_columns_is_found():
    trial = solve(Sgemm("ABC").trial(Case("padded", 4, 3, 4, pad=2)), right)
    trial.C[5] = 0.0
    assert "1 element between the columns of C" in Sgemm("ABC").judge(trial)


def test_one_wrong_element_is_found_and_rounding_is_not():
    trial = solve(Sgemm().trial(Case("long", 8, 8, 2048)), lambda A, B, *rest: A.astype(np.float32) @ B.astype(np.float32))
    assert Sgemm().judge(trial) is None
    trial.matrices()[3][2, 3] += 0.2
    assert "C[2][3]" in str(Sgemm().judge(trial))


def test_a_store_between_the_rows_is_found():
    trial = solve(Sgemm().trial(Case("padded", 4, 4, 4, pad=2)), right)
    trial.C[4] = 0.0
    assert "1 element between the rows of C" in Sgemm().judge(trial)


def test_the_inputs_are_what_a_check_needs():
    cases = all_cases(TILE)
    assert len({case.name for case in cases}) == len(cases)
    sizes = {axis: {getattr(case, axis) for case in cases} for axis in "MNK"}
    assert all({1, 15, 16, 17} <= sizes[axis] for axis in "MN")
    assert {1, 15, 16, 17, 37, 41} <= sizes["K"]
    assert any(len({case.M, case.N, case.K}) == 3 and case.pad and case.beta for case in cases)
    assert all(size % 16 == 0 for case in (*whole_tile_cases(TILE), gate_case(TILE)) for size in (case.M, case.N, case.K))
    trial = Sgemm().trial(SQUARE)
    A, B, C, _ = trial.matrices()
    assert np.isnan(C).all()
    assert not np.allclose(A, A.T)
    assert not np.allclose(A @ B, B @ A)
    assert not trial.A.flags.writeable
