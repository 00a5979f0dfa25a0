"""Matrix-vector and matrix products, by threads and by tensor cores."""

import numpy as np

from hardware_catalog.cases import case, floats, read_only, whole
from hardware_catalog.numbers import bfloat_bits, bfloat_values

INT, FLT = np.int32, np.float32


@case(10, (32, 4), tolerance=1e-6)
def matvec_warp(rng):
    A, x = floats(rng, 38, 101), floats(rng, 101)
    return [INT(38), INT(101), A, x, np.zeros(38, FLT)], {4: A.astype(float) @ x}


@case(2, 64, tolerance=1e-14)
def matvec_thread(rng):
    A, x = read_only(rng.standard_normal((100, 75)), rng.standard_normal(75))
    return [INT(100), INT(75), A, x, np.zeros(100)], {4: A @ x}


@case(2, 64, tolerance=1e-6)
def spmv_csr(rng):
    rows, cols = 100, 80
    dense = rng.standard_normal((rows, cols)) * (rng.random((rows, cols)) < rng.random((rows, 1)) * 0.3)
    dense = dense.astype(FLT)
    start = np.append(0, np.cumsum((dense != 0).sum(1))).astype(INT)
    column, value, x = np.nonzero(dense)[1].astype(INT), dense[dense != 0], floats(rng, cols)
    return [INT(rows), *read_only(start, column, value), x, np.zeros(rows, FLT)], {5: dense.astype(float) @ x}


@case((3, 3), (16, 16))
def gemm_naive(rng):
    M, N, K = 37, 41, 29
    A, B = whole(rng, -128, 128, M, K, dtype=np.int8), whole(rng, -128, 128, K, N, dtype=np.int8)
    return [INT(M), INT(N), INT(K), A, B, np.zeros((M, N), INT)], {5: A.astype(INT) @ B.astype(INT)}


def product(rng, M, N, K, dtype=FLT):
    A, B = read_only(rng.standard_normal((M, K)).astype(dtype), rng.standard_normal((K, N)).astype(dtype))
    return [INT(M), INT(N), INT(K), A, B, np.zeros((M, N), dtype)], {5: A.astype(float) @ B.astype(float)}


@case((3, 3), (16, 16), tolerance=1e-6)
def gemm_tiled(rng):
    return product(rng, 37, 45, 53)


@case((3, 3), (16, 16), tolerance=1e-14)
def dgemm_padded(rng):
    return product(rng, 37, 45, 53, np.float64)


@case((2, 2), 128, tolerance=1e-6)
def gemm_column_tile(rng):
    return product(rng, 64, 64, 24)


@case((1, 1), (16, 16), tolerance=1e-6)
def gemm_register_tile(rng):
    return product(rng, 64, 64, 40)


@case((1, 1), 256, tolerance=1e-6)
def gemm_float4(rng):
    return product(rng, 64, 64, 48)


@case((2, 2), (32, 8), tolerance=1e-6)
def gemm_async(rng):
    return product(rng, 64, 64, 96)


@case(3, 32)
def async_zero_fill(rng):
    n = 301
    x = floats(rng, n)
    want = np.append(x, np.zeros(83, FLT)).reshape(3, 128)[:, ::-1]
    return [INT(n), x, np.zeros((3, 128), FLT)], {2: want}


def tensor(M, N, K, A, B, sums):
    """Arguments of a tensor-core kernel; A and B in float64 too."""
    (a, wide_a), (b, wide_b) = A, B
    return [INT(N), INT(K), read_only(a), read_only(b), np.zeros((M, N), sums)], {4: wide_a @ wide_b}


def halves(rng, *shape):
    h = rng.standard_normal(shape).astype(np.float16)
    return h, h.astype(float)


@case(3, 32, tolerance=1e-6)
def mma_half(rng):
    return tensor(16, 24, 64, halves(rng, 16, 64), halves(rng, 64, 24), FLT)


@case((3, 2), 32, tolerance=1e-6)
def wmma_half(rng):
    return tensor(32, 48, 64, halves(rng, 32, 64), halves(rng, 64, 48), FLT)


@case((4, 2), 32, tolerance=4e-3)
def wmma_half_half(rng):
    return tensor(64, 32, 48, halves(rng, 64, 48), halves(rng, 48, 32), np.float16)


@case((3, 2), 32, tolerance=1e-6)
def wmma_bfloat(rng):
    def pair(*shape):
        bits = bfloat_bits(rng.standard_normal(shape).astype(FLT))
        return bits, bfloat_values(bits).astype(float)
    return tensor(32, 48, 64, pair(32, 64), pair(64, 48), FLT)


@case((3, 2), 32)
def wmma_int8(rng):
    def pair(*shape):
        v = rng.integers(-128, 128, shape).astype(np.int8)
        return v, v.astype(np.int64)
    return tensor(32, 48, 64, pair(32, 64), pair(64, 48), INT)


@case((3, 4), 32, tolerance=1e-14)
def wmma_double(rng):
    def pair(*shape):
        v = rng.standard_normal(shape)
        return v, v
    return tensor(32, 24, 20, pair(32, 20), pair(20, 24), np.float64)


@case((3, 2), 32, tolerance=1e-6)
def wmma_tf32(rng):
    def pair(*shape):
        v = rng.standard_normal(shape).astype(FLT)
        bits = v.view(np.uint32)
        cut = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(FLT)  # cvt.rna.tf32: nearest, ties away
        return v, cut.astype(float)
    return tensor(32, 48, 40, pair(32, 40), pair(40, 48), FLT)


@case(2, 128, tolerance=1e-6)
def wmma_shared(rng):
    args, want = tensor(32, 64, 80, halves(rng, 32, 80), halves(rng, 80, 64), FLT)
    return args, {4: want[4] / 2}
