"""Kernels that Triton compiled for sm_80, as its text came (`foreign/triton/`), against NumPy.

Each launch has two null pointers behind the kernel's own arguments: Triton's scratch memory in global memory and for profiles, which none
of these kernels needs.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from foreign_running import bf16, both_ways, escape_steps, from_bf16

from course_lib import simt

TEXTS = Path(__file__).parent / "foreign/triton"
INT, F = np.int32, np.float32
NULL = [np.uint64(0)] * 2
CASES: dict[str, Callable] = {}


def case(function):
    CASES[function.__name__] = function
    return function


def run(name, grid, args, **how):
    """Launch a kernel as the header of its text says; return what it wrote last among the arrays of `args`."""
    text = (TEXTS / f"{name}.ptx").read_text()
    entry, threads, shared = re.search(r"// entry (\w+), (\d+) threads, (\d+) bytes", text).groups()
    return both_ways(TEXTS / f"{name}.ptx", entry, grid, int(threads), [*args, *NULL], dynamic_shared=int(shared), **how)


def rng():
    return np.random.default_rng(7)


@case
def saxpy():
    n = 2000                                     # a multiple of 16, as the text assumes, and not of the block's 1024
    x, y = rng().standard_normal((2, n)).astype(F)
    x[5], x[1999] = np.nan, np.inf
    want = (2.5 * x.astype(np.float64) + y).astype(F)
    run("saxpy", 2, [x, y, INT(n), F(2.5)])
    np.testing.assert_array_equal(y, want)       # one rounding: a fused multiply-add


@case
def relu_bf16():
    x = bf16(np.concatenate([rng().standard_normal(797), [np.nan, -np.inf, -0.0]]).astype(F))
    y = np.zeros(800, np.uint16)
    run("relu_bf16", 2, [x, y, INT(800)])
    v = from_bf16(x)
    np.testing.assert_array_equal(from_bf16(y), from_bf16(bf16(np.where(v > 0, v, F(0.01) * v))))


@case
def stencil():
    x = rng().standard_normal((9, 201))
    y, want = np.zeros_like(x), np.zeros_like(x)
    want[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + (x[1:-1, :-2] + x[1:-1, 2:]))
    run("stencil", (2, 9), [x, y, INT(9), INT(201)])
    np.testing.assert_allclose(y, want, rtol=1e-14, atol=1e-15)


@case
def transpose():
    x = rng().standard_normal((45, 70)).astype(F)
    y = np.zeros((70, 45), F)
    run("transpose", (3, 2), [x, y, INT(45), INT(70)])
    np.testing.assert_array_equal(y, x.T)


@case
def reduction():
    x, total = rng().standard_normal(5000).astype(F), np.ones(1, F)
    run("reduction", 5, [x, total, INT(5000)])
    np.testing.assert_allclose(total, 1 + x.sum(dtype=np.float64), rtol=2e-5)


@case
def histogram():
    x, counts = rng().integers(0, 64, 1000, INT) // 3, np.full(64, 5, INT)
    run("histogram", 4, [x, counts, INT(1000)])
    np.testing.assert_array_equal(counts, 5 + np.bincount(x, minlength=64))


@case
def softmax():
    x = (8 * rng().standard_normal((6, 203))).astype(F)
    x[3, 4], x[4, 4] = -np.inf, np.nan
    y = np.zeros_like(x)
    run("softmax", 6, [x, y, INT(203), INT(203)])
    e = np.exp(x.astype(np.float64) - np.nanmax(x, axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)


@case
def scan():
    x, y = rng().integers(-(1 << 40), 1 << 40, 512), np.zeros(512, np.int64)
    run("scan", 1, [x, y, INT(300)])
    np.testing.assert_array_equal(y, np.where(np.arange(512) < 300, np.cumsum(x), 0))


@case
def mandelbrot():
    steps = np.zeros((20, 30), INT)
    run("mandelbrot", 5, [steps, INT(30), INT(20), INT(40), F(-1.5), F(0.125)])
    col, row = np.meshgrid(np.arange(30), np.arange(20))
    want = 1 + escape_steps((-1.5 + 0.125 * col) + 1j * (-1.5 + 0.125 * row), 39)       # this program begins at 0, a step before c
    assert (steps == want).mean() > 0.97        # rounding decides on the set's edge
    assert 0 < (want == 40).sum() < 300


@case
def argmax():
    x, where = rng().standard_normal((4, 900)).astype(np.float16), np.zeros(4, INT)
    x[1, [3, 800]], x[2, :], x[3, 899] = 9, -np.inf, 10
    run("argmax", 4, [x, where, INT(900)])
    np.testing.assert_array_equal(where, x.argmax(axis=1))


@case
def layernorm():
    x, (gain, bias) = rng().standard_normal((5, 400)).astype(np.float16), rng().standard_normal((2, 400)).astype(np.float16)
    y, v = np.zeros_like(x), x.astype(np.float64)
    run("layernorm", 5, [x, gain, bias, y, INT(400), F(1e-5)])
    d = v - v.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(y, d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5) * gain + bias, rtol=2e-3, atol=2e-3)


def product(name, tile, shape, kind, out, rtol, numbers=None):
    """Check a product of matrices whose sizes are no multiples of the tile."""
    M, N, K = shape
    A, B = (numbers or (lambda *s: rng().standard_normal(s)))(M, K).astype(kind), rng().standard_normal((K, N)).astype(kind)
    if np.dtype(kind).kind == "i":
        A, B = rng().integers(-128, 128, (M, K), kind), rng().integers(-128, 128, (K, N), kind)
    C, given = np.full((M, N), -7, out), (bf16(A), bf16(B)) if name.endswith("bf16") else (A, B)
    run(name, (-(-M // tile[0]), -(-N // tile[1])), [*given, C, INT(M), INT(N), INT(K)])
    A, B = (from_bf16(m) if name.endswith("bf16") else m for m in given)
    want = A.astype(np.float64) @ B.astype(np.float64)
    scale = abs(A.astype(np.float64)) @ abs(B.astype(np.float64))
    assert np.all(abs(C - want) <= rtol * scale)


@case
def matmul_f16():
    product("matmul_f16", (64, 64), (80, 96, 112), np.float16, F, 1e-6)


@case
def matmul_bf16():
    product("matmul_bf16", (32, 64), (45, 70, 51), F, F, 1e-6)


@case
def matmul_tf32():
    product("matmul_tf32", (32, 32), (48, 80, 112), F, F, 1.1e-3)


@case
def matmul_f64():
    product("matmul_f64", (32, 32), (45, 37, 51), np.float64, np.float64, 1e-14)


@case
def matmul_i8():
    product("matmul_i8", (32, 32), (45, 37, 51), np.int8, INT, 0)


@case
def conv():
    x, w = rng().standard_normal((7, 300)).astype(F), rng().standard_normal((3, 3)).astype(F)
    y, want = np.zeros((5, 298), F), np.zeros((5, 298))
    for i, j in np.ndindex(3, 3):
        want += w[i, j].astype(np.float64) * x[i:i + 5, j:j + 298]
    run("conv", (2, 5), [x, w, y, INT(7), INT(300)])
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


@case
def attention():
    q, k, v = rng().standard_normal((3, 80, 64)).astype(np.float16)
    out = np.zeros((80, 64), np.float16)
    run("attention", 3, [q, k, v, out, INT(80), F(0.125)])
    s = 0.125 * q.astype(np.float64) @ k.astype(np.float64).T
    p = np.exp(s - s.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(axis=1, keepdims=True) @ v, rtol=4e-3, atol=2e-3)


@case
def sort():
    x, y = rng().integers(-1000, 1000, 256, INT), np.zeros(256, INT)
    run("sort", 1, [x, y, INT(200)])
    np.testing.assert_array_equal(y[:200], np.sort(x[:200]))
    np.testing.assert_array_equal(y[200:], np.sort(x[200:]) * 0)


@case
def random():
    uniform, mixed = np.full(600, -1, F), np.zeros(9, INT)
    run("random", 3, [uniform, mixed, INT(1234), INT(600)])
    np.testing.assert_array_equal(uniform, [philox(1234, i) for i in range(600)])
    assert (mixed[:8] > 0).all()                 # whoever came first left its number, and nobody changed it
    np.testing.assert_array_equal((mixed[:8] - 1) % 8, np.arange(8))
    assert mixed[8] == max(m - 1 for m in mixed[:8])


@case
def fp8():
    x = (10 * rng().standard_normal(256)).astype(np.float16)
    x[:4], y, z = [np.inf, 1e-6, 57344, -1.5], np.zeros(256, np.uint8), np.zeros(256, np.float16)
    run("fp8", 1, [x, y, z, INT(250)], modelled=True)
    np.testing.assert_array_equal((y.astype(np.uint16) << 8).view(np.float16), z)        # e5m2 is the upper half of float16
    assert np.all(abs(z.astype(F) - x)[1:250] <= 0.125 * abs(x[1:250]) + 1e-5)
    assert not z[250:].any()


@case
def assembly():
    x, y = rng().integers(-(1 << 31), 1 << 31, 256, INT), np.zeros(256, INT)
    run("assembly", 1, [x, y], modelled=True)
    u = x.view(np.uint32)
    np.testing.assert_array_equal(y.view(np.uint32), ((u << np.uint32(3)) ^ u).byteswap())


@case
def prints():
    report = run("prints", 1, [np.arange(5, 69, dtype=INT), INT(60)])
    assert report.output.splitlines() == [f"pid (0, 0, 0) idx ({i:2}) value: {i + 5 if i < 60 else 0}" for i in range(64)]


@case
def asserts():
    x = np.arange(64, dtype=INT)
    run("asserts", 1, [x, INT(60)])
    x[[5, 61]] = -1
    with pytest.raises(simt.AssertionFailed, match=r"thread \(5, 0, 0\) of block .*`negative`"):
        run("asserts", 1, [x, INT(60)])


@case
def atomics():
    n, k = 500, np.arange(500)
    a, b, c, d, e = bf16(np.zeros(32, F)), np.zeros(64, np.float16), np.zeros(4), np.zeros(4, np.int64), np.full(1006, -1, INT)
    e[1003:] = 0
    run("atomics", 2, [a, b, c, d, e, INT(n)], modelled=True)
    np.testing.assert_array_equal(from_bf16(a), np.bincount(k % 32))
    np.testing.assert_array_equal(b, np.bincount(k // 8, minlength=64) / 2)
    np.testing.assert_array_equal(c, 125 / 4)
    np.testing.assert_array_equal(d, [7 * k[k % 4 == q].max() for q in range(4)])
    np.testing.assert_array_equal(e[:n], k)
    np.testing.assert_array_equal(e[1000:1003], [np.bitwise_and.reduce(~k[k % 3 == q]) for q in range(3)])
    np.testing.assert_array_equal(e[1003:], [np.bitwise_xor.reduce(k[k % 3 == q]) for q in range(3)])


@case
def locked():
    x, total, lock = rng().integers(0, 9, (5, 128)).astype(F), np.zeros(128, F), np.zeros(1, INT)
    run("locked", 5, [lock, x, total])
    np.testing.assert_array_equal(total, x.sum(axis=0))
    assert lock == 0


@case
def normalise():
    """All lanes of a warp store their sum at one place; a fused multiply-add makes the sums of its two halves differ in the last bit."""
    x, y = rng().standard_normal((13, 100)).astype(F), np.zeros((13, 100), F)
    report = run("normalise", 3, [x, y, INT(13), INT(100)], hazards=1)
    race, = report.hazards
    assert (race.kind, race.one_warp, race.array) == ("WAW", True, "global_smem")
    np.testing.assert_allclose(y, x / (1 + np.sqrt((x.astype(np.float64) ** 2).sum(axis=1, keepdims=True))), rtol=1e-5)


@case
def recurrence():
    x, y = (0.5 * rng().standard_normal((2, 4, 128))).astype(F)
    z, a, b = np.zeros((4, 128), F), np.ones(4), np.zeros(4)
    run("recurrence", 1, [x, y, z])
    for k in range(128):
        a, b = a * x[:, k], b * x[:, k] + y[:, k]
        np.testing.assert_allclose(z[:, k], a + b, rtol=1e-3, atol=1e-5)


@case
def batched():
    a, b = bf16(rng().standard_normal((2, 4, 32, 32)).astype(F))
    c, (A, B) = np.zeros((4, 32, 32), F), (from_bf16(m).astype(np.float64) for m in (a, b))
    run("batched", 1, [a, b, c])
    assert np.all(abs(c - A @ B) <= 1e-6 * (abs(A) @ abs(B)))


def philox(seed, offset):
    """Philox 4x32 with ten rounds (Salmon et al., 2011) as Triton keys it; the first word as a number in [0, 1)."""
    c, k = [offset, 0, 0, 0], [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    word = c[0] - (1 << 32) * (c[0] >> 31)
    return F(-word - 1 if word < 0 else word) * F(4.6566127342e-10)


@pytest.mark.sampled(test=8, slow=21)
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_what_numpy_computes(name):
    CASES[name]()


def test_every_text_has_a_case():
    assert {path.stem for path in TEXTS.glob("*.ptx")} == set(CASES)
