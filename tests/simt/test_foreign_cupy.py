"""Kernels that CuPy wrote and NVRTC compiled with CuPy's options for compute capability 8.0 (`foreign/cupy/`), against NumPy.

CuPy hands a kernel an array as a structure by value, `(pointer, elements, shape, strides)`, and an `_ind` that knows the shape.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from foreign_running import both_ways, escape_steps

TEXTS = Path(__file__).parent / "foreign/cupy"
INT, F, L = np.int32, np.float32, np.int64
CASES: dict[str, Callable] = {}


def case(function):
    CASES[function.__name__] = function
    return function


def carray(a):
    return (a, L(a.size), *map(L, a.shape), *map(L, a.strides))


def indexer(*shape):
    return (L(math.prod(shape)), *map(L, shape), *[L(0)] * len(shape))


def run(name, grid, block, args, **how):
    text = (TEXTS / f"{name}.ptx").read_text()
    return both_ways(TEXTS / f"{name}.ptx", re.search(r"// entry (\S+)", text)[1], grid, block, args, **how)


def elementwise(name, size, args, shape=None):
    return run(name, -(-size // 128), 128, [*args, indexer(*(shape or (size,)))])


def reduction(name, args, ins, outs, stride, **how):
    """Launch a ReductionKernel: `stride` outputs per block, which share its 128 threads."""
    return run(name, -(-math.prod(outs) // stride), 128, [*args, indexer(*ins), indexer(*outs), INT(stride)], **how)


def rng():
    return np.random.default_rng(13)


@case
def saxpy():
    x, y = rng().standard_normal((2, 300)).astype(F)
    x[5], x[299] = np.nan, np.inf
    want = (2.5 * x.astype(np.float64) + y).astype(F)
    elementwise("saxpy", 300, [F(2.5), carray(x), carray(y)])
    np.testing.assert_array_equal(y, want)


@case
def squared_difference():
    x, y, z = rng().standard_normal((9, 12)).T, rng().standard_normal(9).astype(F), np.zeros((12, 18))[:, ::2]
    y = np.lib.stride_tricks.as_strided(y, (12, 9), (0, 4))                      # broadcast: a stride of 0
    elementwise("squared_difference", 108, [carray(x), (np.ascontiguousarray(y[0]), L(108), L(12), L(9), L(0), L(4)), carray(z)], (12, 9))
    np.testing.assert_allclose(z, (x - y) ** 2, rtol=1e-15)


@case
def stencil():
    x, y = rng().standard_normal(200), np.zeros(200)
    elementwise("stencil", 200, [carray(x), L(200), carray(y)])
    np.testing.assert_allclose(y, 0.25 * (np.roll(x, 1) + 2 * x + np.roll(x, -1)), rtol=1e-13, atol=1e-15)


@case
def halves():
    x, y = rng().standard_normal((2, 100)).astype(np.float16)
    x[0], y[1], x[2] = np.nan, np.inf, 65504
    z, less = np.zeros(100, np.float16), np.zeros(100, bool)
    elementwise("halves", 100, [carray(x), carray(y), carray(z), carray(less)])
    np.testing.assert_array_equal(less, x < y)
    with np.errstate(invalid="ignore", over="ignore"):
        want = (x.astype(np.float64) * y + x).astype(np.float16)     # CuPy's float16 computes in float32
    np.testing.assert_array_equal(z, want)


@case
def mandelbrot():
    col, row = np.meshgrid(np.arange(30), np.arange(20))
    c, steps = (-1.5 + 0.125 * col + 1j * (-1.5 + 0.125 * row)).astype(np.complex64).ravel(), np.zeros(600, INT)
    elementwise("mandelbrot", 600, [carray(c), INT(40), carray(steps)])
    want = escape_steps(c)
    assert (steps == want).mean() > 0.97        # rounding decides on the set's edge
    assert 0 < (want == 40).sum() < 300


@case
def complex_functions():
    z = rng().standard_normal(100) + 5j * rng().standard_normal(100)
    z[:2], w = [0, 700 + 1j], np.zeros(100, complex)
    elementwise("complex_functions", 100, [carray(z), carray(w)])
    np.testing.assert_allclose(w, np.exp(z) / (z + 1), rtol=1e-13)


@case
def histogram():
    v, counts = rng().integers(0, 256, 1000, np.uint8), np.zeros(256, np.uint64)
    run("histogram", 8, 128, [carray(v), carray(counts), indexer(1000)])
    np.testing.assert_array_equal(counts, np.bincount(v, minlength=256))


@case
def length():
    x, y = rng().standard_normal((50, 12)).astype(F)[:, ::2], np.zeros(6, F)
    reduction("length", [carray(x), carray(y)], (50, 6), (6,), 4)
    np.testing.assert_allclose(y, np.sqrt((x.astype(np.float64) ** 2).sum(axis=0)), rtol=1e-5)


@case
def all_nonzero():
    for zeros in (0, 1):
        x, y = np.arange(1, 301), np.zeros((), bool)
        x[:zeros] = 0
        reduction("all_nonzero", [carray(x), carray(y)], (300,), (), 1)
        assert y == (not zeros)


@case
def mean():
    x, y = rng().standard_normal((70, 33)).astype(np.float16), np.zeros(33, F)
    reduction("mean", [carray(x), carray(y)], (70, 33), (33,), 32)
    np.testing.assert_allclose(y, x.astype(np.float64).mean(axis=0), rtol=1e-5, atol=1e-6)


@case
def argmax():
    x, y = rng().standard_normal((150, 7)), np.zeros(7, L)
    x[[20, 40], 2], x[149, 3], x[0, 4] = 50, 60, 70
    report = reduction("argmax", [carray(x), carray(np.zeros(1, L)), carray(y)], (150, 7), (7,), 8, hazards=1)
    padding, = report.hazards                    # the compiler copies a structure of 12 bytes with the 4 that fill it up to 16
    assert (padding.kind, padding.offset % 16, padding.influence) == ("uninitialised", 12, "")
    np.testing.assert_array_equal(y, x.argmax(axis=0))


@case
def gelu():
    x, y = (3 * rng().standard_normal(200)).astype(F), np.zeros(200, F)
    elementwise("gelu", 200, [carray(x), carray(y)])
    X = x.astype(np.float64)
    np.testing.assert_allclose(y, 0.5 * X * (1 + np.tanh(0.7978845608 * (X + 0.044715 * X ** 3))), rtol=1e-5, atol=1e-5)


@case
def log_sum():
    x, y = rng().standard_normal((60, 5)), np.zeros(5)
    reduction("log_sum", [carray(x), carray(y)], (60, 5), (5,), 8)
    np.testing.assert_allclose(y, np.log((np.exp(x) + 1e-3).sum(axis=0)), rtol=1e-13)


@case
def transpose():
    x, y = rng().standard_normal((45, 70)).astype(F), np.zeros((70, 45), F)
    run("transpose", (3, 2), (32, 8), [carray(x), carray(y)])
    np.testing.assert_array_equal(y, x.T)


@case
def row_sum():
    x, y = rng().standard_normal((5, 77)), np.zeros(5)
    run("row_sum", 5, 32, [carray(x), carray(y)])
    np.testing.assert_allclose(y, x.sum(axis=1), rtol=1e-12)


@case
def scatter():
    values, at = rng().integers(-9, 9, 200).astype(F), rng().integers(0, 10, 200, INT)
    sums, largest = np.zeros(10, F), np.full(10, -1, INT)
    run("scatter", 2, 128, [carray(a) for a in (values, at, sums, largest)])
    np.testing.assert_array_equal(sums, np.bincount(at, values, 10))
    np.testing.assert_array_equal(largest, [k + np.flatnonzero(at == k).max() for k in range(10)])


@case
def matmul():
    A, B, C = rng().standard_normal((13, 21)), rng().standard_normal((21, 19)), np.full((13, 19), np.nan)
    run("matmul", (3, 2), (8, 8), [A, B, C, INT(13), INT(19), INT(21)])
    np.testing.assert_allclose(C, A @ B, rtol=1e-12, atol=1e-13)


@case
def scan():
    x, y = rng().integers(-(1 << 40), 1 << 40, 400), np.zeros(400, L)
    run("scan", 1, 128, [x, y, INT(400)])
    np.testing.assert_array_equal(y, np.cumsum(x))


@pytest.mark.slow
@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_what_numpy_computes(name):
    CASES[name]()


def test_every_text_has_a_case():
    assert {path.stem for path in TEXTS.glob("*.ptx")} == set(CASES)
