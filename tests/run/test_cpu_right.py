"""The CPU programs are right on every shape, stride, factor and number of threads, in float and double."""

import numpy as np
import pytest
from cpu_tools import matrices, needs_c, needs_openmp

from course_lib.kernels import CPU_KERNELS
from course_lib.kernels.cpu import ORDERS
from course_lib.run import mismatch, run_cpu

PACKED = {"MR": 4, "NV": 1, "VB": 16, "KC": 5, "MC": 8, "NC": 8}
SIZES = {
    "gemm_blocked": ({}, {"BI": 1, "BJ": 1, "BK": 1}, {"BI": 7, "BJ": 5, "BK": 3}, {"BI": 2**20, "BJ": 16, "BK": 2**20}),
    "gemm_pthreads": ({"threads": 1}, {"threads": 2}, {"threads": 3}, {"threads": 7}, {"threads": 1024}),
    "gemm_openmp": ({"threads": 1}, {"threads": 2}, {"threads": 3}, {"threads": 7}),
    "gemm_vectors": ({}, {"MR": 1, "NV": 1, "VB": 16}, {"MR": 4, "NV": 3, "VB": 64}, {"MR": 5, "NV": 2, "VB": 32}),
    "gemm_packed": ({}, {"threads": 2}, {"threads": 7}, PACKED, {**PACKED, "threads": 3}, {"VB": 64, "MR": 8}),
    "blas": ({"threads": 1}, {"threads": 2}),
}
MARKS = {"python_ijk": (), "blas": (), "gemm_openmp": (needs_openmp,)}
CASES = [pytest.param(name, values, marks=MARKS.get(name, (needs_c,)), id=f"{name}-{'-'.join(f'{k}{v}' for k, v in values.items())}")
         for name in CPU_KERNELS for values in SIZES.get(name, ({},))]
SHAPES = [(1, 1, 1), (17, 1, 33), (1, 17, 5), (2, 97, 1), (15, 17, 16), (16, 16, 16), (33, 31, 32), (31, 33, 2), (53, 29, 37),
          (7, 65, 257)]


def right(result, *inputs, **factors):
    return mismatch(result.C, *inputs, **factors) is None and result.stray_writes == 0


@pytest.mark.sampled(test=4, slow=20)
@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_shape(name, values, dtype):
    for M, N, K in SHAPES:
        A, B, _ = matrices(M, N, K, dtype=dtype)
        result = run_cpu(name, A, B, timed=False, **values)
        assert right(result, A, B), (M, N, K)
        assert result.C.dtype == dtype
        assert result.time is None


@pytest.mark.slow
@pytest.mark.sampled(test=5, slow=18)
@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (-1.5, 0.25), (0, 2), (3, 0), (0, 0)])
def test_padded_rows_and_factors(name, values, alpha, beta):
    for dtype in (np.float32, np.float64):
        A, B, C = matrices(19, 41, 18, pads=(3, 1, 5), dtype=dtype)
        if beta == 0:
            C[...] = np.nan                   # must not be read
        before = C.copy()
        result = run_cpu(name, A, B, C, alpha=alpha, beta=beta, timed=False, **values)
        assert (result.lda, result.ldb, result.ldc) == (21, 42, 46)
        assert right(result, A, B, C, alpha=alpha, beta=beta)
        assert np.array_equal(C, before, equal_nan=True)


@pytest.mark.sampled(test=10)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_not_a_number_and_infinity_reach_what_they_must_and_nothing_else(name, values):
    A, B, C = matrices(14, 37, 11)
    A[3, 4], B[5, 6], B[0, 20] = np.nan, np.inf, -np.inf
    C[9, 1] = np.nan
    result = run_cpu(name, A, B, C, beta=0.5, timed=False, **values)
    finite = np.ones((14, 37), bool)
    finite[3], finite[:, 6], finite[:, 20], finite[9, 1] = False, False, False, False
    assert np.array_equal(np.isfinite(result.C), finite)
    assert np.array_equal(np.sign(result.C[:3, 20]), -np.sign(A[:3, 0]))


@needs_c
def test_the_six_orders_agree_bit_by_bit_where_they_add_in_the_same_order():
    A, B, _ = matrices(23, 45, 31)
    first, *others = (run_cpu(f"gemm_{order}", A, B, timed=False).C for order in ORDERS)
    assert all(np.abs(C - first).max() < 1e-5 for C in others)


@needs_c
@pytest.mark.parametrize("name", ["gemm_pthreads", "gemm_packed"])
def test_the_number_of_threads_changes_no_bit(name):
    A, B, C = matrices(61, 35, 40)
    one, *more = (run_cpu(name, A, B, C, beta=2, threads=threads, timed=False).C for threads in (1, 2, 3, 5, 11))
    assert all((one == C).all() for C in more)


@pytest.mark.slow
@needs_c
@pytest.mark.parametrize("name", ["gemm_blocked", "gemm_pthreads", "gemm_vectors", "gemm_packed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_rectangle_of_primes(name, dtype):
    A, B, C = matrices(997, 1009, 1013, pads=(2, 0, 1), dtype=dtype)
    threads = {"threads": 3} if CPU_KERNELS[name].threaded else {}
    result = run_cpu(name, A, B, C, alpha=0.5, beta=-2, timed=False, **threads)
    assert right(result, A, B, C, alpha=0.5, beta=-2)


@needs_c
def test_the_check_finds_a_dropped_term_in_double():
    A, B, _ = matrices(5, 6, 300, dtype=np.float64)
    result = run_cpu("gemm_ikj", A, B, timed=False)
    assert mismatch(result.C - A[:, :1] * B[:1] * 1e-9, A, B) is not None
