"""Kernels that Numba compiled for compute capability 8.0, as its text came (`foreign/numba/`), against NumPy.

Numba hands a kernel an array as 5 + 2 * ndim words; `words` writes them.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from foreign_running import both_ways, escape_steps
from launching import fault

from course_lib import simt

TEXTS = Path(__file__).parent / "foreign/numba"
INT, F = np.int32, np.float32
CASES: dict[str, Callable] = {}


def case(function):
    CASES[function.__name__] = function
    return function


def words(array):
    """An array as Numba passes it: two words for its owner, elements, bytes of one, the pointer, then shape and strides."""
    return [np.uint64(0), np.uint64(0), np.int64(array.size), np.int64(array.itemsize), array, *map(np.int64, array.shape + array.strides)]


def parts(args):
    return [one for arg in args for one in (words(arg) if isinstance(arg, np.ndarray) else [arg])]


def source(name):
    path = TEXTS / f"{name}.ptx"
    return path, re.search(r"// entry (\S+)", path.read_text())[1]


def run(name, grid, block, args, **how):
    return both_ways(*source(name), grid, block, parts(args), **how)


def rng():
    return np.random.default_rng(11)


@case
def saxpy():
    x, y = rng().standard_normal((2, 300)).astype(F)
    x[5], x[299] = np.nan, np.inf
    want = (2.5 * x.astype(np.float64) + y).astype(F)
    run("saxpy", 3, 128, [F(2.5), x, y])
    np.testing.assert_array_equal(y, want)


@case
def stencil():
    x, y = rng().standard_normal((40, 11)).T, np.zeros((11, 80))[:, ::2]      # any strides: the one is transposed, the other has gaps
    want = np.zeros_like(y)
    want[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    run("stencil", (3, 5), (4, 8), [x, y])
    np.testing.assert_allclose(y, want, rtol=1e-14, atol=1e-15)


@case
def transpose():
    x, y = rng().standard_normal((45, 70)).astype(F), np.zeros((70, 45), F)
    run("transpose", (3, 2), (32, 8), [x, y])
    np.testing.assert_array_equal(y, x.T)


@case
def reduction():
    x, total = rng().standard_normal(3000), np.array([0.5])
    run("reduction", 3, 256, [x, total])
    np.testing.assert_allclose(total, 0.5 + math.fsum(x), rtol=1e-12)


@case
def histogram():
    x, counts = rng().integers(0, 256, 1500, np.uint8), np.full(256, 3, INT)
    run("histogram", 2, 256, [x, counts], modelled=True)
    np.testing.assert_array_equal(counts, 3 + np.bincount(x, minlength=256))


@case
def matmul(name="matmul"):
    A, B = rng().standard_normal((21, 37)).astype(F), rng().standard_normal((37, 35)).astype(F)
    C = np.full((21, 35), np.nan, F)
    run(name, (3, 2), (16, 16), [A, B, C])
    np.testing.assert_allclose(C, A.astype(np.float64) @ B, rtol=1e-4, atol=1e-5)


@case
def matmul_debug():
    matmul("matmul_debug")


@case
def softmax():
    x = (8 * rng().standard_normal((4, 77))).astype(F)
    x[3, 4] = -np.inf
    y = np.zeros_like(x)
    run("softmax", 4, 32, [x, y])
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)


@case
def scan(name="scan"):
    x, y = rng().integers(-1000, 1000, 150), np.zeros(150, np.int64)
    run(name, 1, 160, [x, y])
    np.testing.assert_array_equal(y, np.cumsum(x))


@case
def scan_debug():
    scan("scan_debug")


@case
def mandelbrot():
    col, row = np.meshgrid(np.arange(30), np.arange(20))
    c, steps = (-1.5 + 0.125 * col + 1j * (-1.5 + 0.125 * row)).astype(np.complex64), np.zeros((20, 30), INT)
    run("mandelbrot", (4, 5), (8, 4), [c, INT(40), steps])
    want = escape_steps(c)
    assert (steps == want).mean() > 0.97        # rounding decides on the set's edge
    assert 0 < (want == 40).sum() < 300


@case
def argmax():
    for places, value in (((), 0), ((3, 800), 9), ((899,), 10)):
        x, where = rng().standard_normal(900).astype(F), np.zeros(1, INT)
        x[list(places)] = value
        run("argmax", 1, 128, [x, where])
        assert where[0] == x.argmax()


@case
def layernorm(name="layernorm"):
    x, (gain, bias) = rng().standard_normal((33, 40)).T[:, ::3], rng().standard_normal((2, 11))
    y = np.zeros((40, 11))
    run(name, 2, 32, [x, gain, bias, y, np.float64(1e-5)])
    d = x - x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(y, d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5) * gain + bias, rtol=1e-11, atol=1e-12)


@case
def layernorm_unoptimised():
    layernorm("layernorm_unoptimised")


@case
def conv():
    x, w = rng().standard_normal((3, 9, 14)).astype(F), rng().standard_normal((2, 3, 3, 3)).astype(F)
    y = np.zeros((2, 7, 12), F)
    run("conv", (2, 2, 2), (8, 4, 1), [x, w, y], modelled=True)
    want = sum(w[:, :, i, j].astype(np.float64) @ x[:, i:i + 7, j:j + 12].reshape(3, -1) for i, j in np.ndindex(3, 3))
    np.testing.assert_allclose(y, want.reshape(y.shape), rtol=1e-4, atol=1e-5)


@case
def functions():
    x, u = (5 * rng().standard_normal(100)).astype(F), 4 * rng().standard_normal(100)
    x[:3], u[:3] = [0, -0.0, 30], [0, -0.0, 30]
    y, v = np.zeros(100, F), np.zeros(100)
    run("functions", 4, 32, [x, u, y, v])
    X = x.astype(np.float64)
    np.testing.assert_allclose(y, np.sin(X) + np.exp(-X * X) + np.log1p(abs(X)) + np.cos(X), rtol=2e-5, atol=2e-5)
    erf = np.array([math.erf(one) for one in u])
    np.testing.assert_allclose(v, abs(u) ** 1.5 + np.tanh(u) + erf + np.fmod(u, 0.7), rtol=1e-13, atol=1e-14)


@case
def halves_linked():
    x, y = rng().standard_normal((2, 100)).astype(np.float16)
    x[:2], y[2] = [np.nan, np.inf], np.nan
    z, bits = np.zeros_like(x), rng().integers(0, 1 << 32, 100, np.uint32)
    bits[:3], given = [0, 1, 0xffffffff], bits
    bits = given.copy()
    run("halves_linked", 4, 32, [x, y, z, bits], modelled=True)
    fused = (x.astype(np.float64) * y + x).astype(np.float16)
    np.testing.assert_array_equal(z, np.where(x < y, fused, x - y))
    text = [f"{int(b):032b}" for b in given]
    leading = [(t + "1").index("1") for t in text]
    first = [33 - len(t[::-1].lstrip("0")) if "1" in t else 0 for t in text]
    np.testing.assert_array_equal(bits, [t.count("1") + 64 * a + 4096 * b for t, a, b in zip(text, leading, first)])


@case
def devices(name="devices"):
    x = rng().integers(1, 500, 50, np.uint32)
    found, best, lock = np.zeros(51, np.uint32), np.array([-1.0, 1e9]), np.array([0, 0, 0x55], np.uint32)
    run(name, 2, 32, [x, found, best, lock], modelled=True)
    assert found[0] == 50
    np.testing.assert_array_equal(np.sort(found[1:]), np.sort([collatz(int(n)) for n in x]))
    np.testing.assert_array_equal(best, [x.max() / 2, x.min() / 2])
    assert 1 <= lock[0] <= 50
    assert lock[1] == 50 - 31
    assert lock[2] == 0x55 ^ np.bitwise_xor.reduce(x)


@case
def devices_linked():
    devices("devices_linked")


@case
def quotients():
    x = np.array([7, -7, 8, -8, 0, -2147483648], INT)
    for by in (2, -2, 3, -3):
        y = np.zeros(6, INT)
        run("quotients", 1, 32, [x, INT(by), y])
        np.testing.assert_array_equal(y, x.astype(np.int64) // by)
    y = np.full(6, 9, INT)
    run("quotients", 1, 32, [x, INT(0), y])        # the thread ends; the variable that says why is Numba's
    np.testing.assert_array_equal(y, 9)


@case
def prints():
    x = np.array([5, -6, 1 << 40])
    report = run("prints", 1, 32, [x, np.float64(0.5)])
    assert report.output.splitlines() == [f"element {i} {n} 0.500000" for i, n in enumerate(x)]


@case
def halves():
    """As compile_ptx gives it, the text lacks functions that Numba links in later; they are refused by name."""
    x, bits = np.zeros(3, np.float16), np.zeros(3, np.uint32)
    path, entry = source("halves")
    error = fault(simt.UnsupportedInstruction, path, parts([x, x, x.copy(), bits]), name=entry)
    assert "__hlt" in str(error)
    assert "not defined" in str(error)


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


@pytest.mark.sampled(test=6, slow=16)
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_what_numpy_computes(name):
    CASES[name]()


def test_every_text_has_a_case():
    assert {path.stem for path in TEXTS.glob("*.ptx")} == set(CASES)
