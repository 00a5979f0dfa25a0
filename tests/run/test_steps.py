"""Wong's kernels: transposition, bare product and sum, alone and together, and the fused product with transposed operands."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.run import mismatch, run, run_multiply, run_sum, run_transpose, run_unfused

SHAPES = [(1, 1), (33, 1), (1, 40), (31, 65), (64, 32), (100, 37)]


def matrix(rows, cols, pad=0):
    rng = np.random.default_rng([rows, cols, pad])
    return rng.standard_normal((rows, cols + pad)).astype(np.float32)[:, :cols]


@pytest.mark.slow
@pytest.mark.sampled(slow=4)
@pytest.mark.parametrize("name", ["transpose", "transpose_plain", "transpose_swizzled"])
@pytest.mark.parametrize("values", [{}, {"TILE": 16, "ROWS": 16}, {"TILE": 12, "ROWS": 3}, {"TILE": 64, "ROWS": 4}])
def test_transposition(name, values):
    if name == "transpose_swizzled" and values.get("TILE") == 12:
        values = {"TILE": 8, "ROWS": 2}
    for rows, cols in SHAPES:
        for pad in (0, 3):
            A = matrix(rows, cols, pad)
            result = run_transpose(name, A, backend="sim", racecheck=True, **values)
            assert np.array_equal(result.out, A.T)
            assert result.hazards == ()


def test_padding_frees_the_banks_and_the_tile_joins_the_sectors():
    A = matrix(64, 64)
    plain = run_transpose("transpose_plain", A, backend="sim")
    bare, padded = (run_transpose("transpose", A, backend="sim", PAD=pad) for pad in (0, 1))
    assert plain.sectors_per_request("store") == 32
    assert padded.sectors_per_request("store") == padded.sectors_per_request("load") == 4
    assert bare.count("wavefronts") == 32 * padded.count("wavefronts")
    assert padded.count("conflicts") == 0


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("TILE", [8, 16, 32, 64])
def test_mixed_columns_are_free_of_conflicts_and_cost_no_word(TILE):
    A = matrix(64, 128)
    mixed = run_transpose("transpose_swizzled", A, backend="sim", TILE=TILE)
    assert [mixed.count("conflicts", kind) for kind in ("load", "store")] == [0, 0]
    assert [mixed.count("wavefronts", kind) for kind in ("load", "store")] == [64 * 128 // 32] * 2
    assert mixed.resources.static_shared_bytes == 4 * TILE * TILE
    with pytest.raises(CourseError, match="TILE = 24 is no power of two: it can be 16 or 32"):
        run_transpose("transpose_swizzled", A, backend="sim", TILE=24)


@pytest.mark.parametrize("TILE", [16, 32, 5])
def test_the_bare_product(TILE):
    for M, N, K in ((1, 1, 1), (17, 40, 33), (32, 16, 48)):
        A, B = matrix(M, K, 2), matrix(K, N, 1)
        assert mismatch(run_multiply("sgemm_multiply", A, B, backend="sim", TILE=TILE).out, A, B) is None


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (-2, 0.5), (0, 1)])
def test_the_sum(alpha, beta):
    P, C = matrix(19, 45, 1), matrix(19, 45, 4)
    got = run_sum("matrix_sum", P, C if beta else None, alpha=alpha, beta=beta, backend="sim", bx=32, by=4).out
    want = np.float64(alpha) * P + (np.float64(beta) * C if beta else 0)
    assert np.allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_fused_and_unfused_with_turned_operands(transposed):
    M, N, K = 35, 18, 50
    A, B, C = matrix(*((K, M) if transposed[0] else (M, K)), 3), matrix(*((N, K) if transposed[1] else (K, N)), 1), matrix(M, N, 2)
    right = (A.T if transposed[0] else A, B.T if transposed[1] else B, C)
    transpose = {"TRANSA": int(transposed[0]), "TRANSB": int(transposed[1])}
    fused = run("sgemm_op", A, B, C, alpha=1.5, beta=-0.5, backend="sim", racecheck=True, **transpose)
    assert mismatch(fused.C, *right, alpha=1.5, beta=-0.5) is None
    assert fused.hazards == ()
    assert fused.stray_writes == 0
    steps = run_unfused(A, B, C, alpha=1.5, beta=-0.5, transposed=transposed, backend="sim")
    assert len(steps) == 2 + sum(transposed)
    assert mismatch(steps[-1].out, *right, alpha=1.5, beta=-0.5) is None


def test_turned_operands_keep_their_loads_together():
    A = matrix(64, 64)
    counts = [run("sgemm_op", A, A, backend="sim", TRANSA=a, TRANSB=b) for a in (0, 1) for b in (0, 1)]
    assert {c.sectors_per_request() for c in counts} == {4.0}
    assert {c.count("conflicts") for c in counts} == {0}


def test_fusing_saves_the_way_through_global_memory():
    A, C = matrix(64, 64), matrix(64, 64)
    fused = run("sgemm_op", A, A, C, beta=1.0, backend="sim")
    steps = run_unfused(A, A, C, beta=1.0, backend="sim")
    moved = sum(s.count("sectors", kind) for s in steps for kind in ("load", "store"))
    assert moved - sum(fused.count("sectors", kind) for kind in ("load", "store")) == 2 * 64 * 64 * 4 // 32


def test_what_does_not_fit_is_said():
    A = matrix(4, 5)
    for call, words in ((lambda: run_transpose("sgemm_op", A), "its kind is 'product', not 'transpose'"),
                        (lambda: run_multiply("sgemm_multiply", A, A), "as many rows as A has columns, 5"),
                        (lambda: run_sum("matrix_sum", A, beta=2.0), "no C is given"),
                        (lambda: run_sum("matrix_sum", A, A.T.copy()), "one shape"),
                        (lambda: run_transpose("transpose", A.T), "ascontiguousarray"),
                        (lambda: run("sgemm_op", A, A, TRANSA=1, TRANSB=1, backend="sim"), "once transposed")):
        with pytest.raises(CourseError, match=words):
            call()
