"""Arithmetic on floating-point numbers: references by fractions, or by NumPy in float64."""

import math
from fractions import Fraction

import numpy as np

from hardware_catalog.cases import case, read_only
from hardware_catalog.numbers import bfloat_bits, bfloat_values, ordinary, pairs, root, rounded, to_integer

INT, FLT = np.int32, np.float32


def fused(a, b, c, form, dtype):
    """Return a * b + c with one rounding, special values as IEEE 754 has them."""
    with np.errstate(all="ignore"):
        plain = a * b + c
    plain = np.where(np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c), c, plain)  # the product may be too large for the type
    exact = [rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), form) if np.isfinite([x, y, z]).all() else p
             for x, y, z, p in zip(a, b, c, plain)]
    return np.array([p if e == 0 and p == 0 else e for e, p in zip(exact, plain)], dtype)


def less_zero(a, b, larger):
    """Return the smaller (or larger) number; a number beats NaN, and -0 is below +0."""
    low = np.fmax(a, b) if larger else np.fmin(a, b)
    zeros = (a == 0) & (b == 0)
    sign = np.signbit(a) & np.signbit(b) if larger else np.signbit(a) | np.signbit(b)
    return np.where(zeros, np.where(sign, a.dtype.type(-0.0), a.dtype.type(0.0)), low)


def common(a, b, form):
    """Return the rows that both precisions share."""
    t = a.dtype.type
    return [a + b, a - b, a * b, a / b, fused(a, b, np.full_like(a, 1.5), form, t)]


@case(5, 128)
def float_ops(rng):
    n = 600
    a, b = read_only(*pairs(rng, n, FLT))
    with np.errstate(all="ignore"):
        clamped = np.where(np.isnan(a), FLT(0), np.where(a > 0, np.minimum(a, FLT(1)), FLT(0)))
        away = np.where(np.abs(a) < 2**23, np.copysign(np.floor(np.abs(a.astype(float)) + 0.5), a), a)
        out = [*common(a, b, "f32"), fused(a, a, -b, "f32", FLT), np.sqrt(a), FLT(1) / a, less_zero(a, b, False), less_zero(a, b, True),
               np.abs(a), -a, np.copysign(a, b), np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), away, clamped,
               a < b, a <= b, a == b, a != b, ~(a < b), np.isnan(a), np.isinf(b), np.signbit(a), np.where(a > b, a, b),
               np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a > b, a - b, 0)), np.ldexp(a, 3), np.nextafter(a, b)]
    want = np.array([np.asarray(r, FLT) for r in out])
    return [INT(n), a, b, np.zeros_like(want)], {3: want}


@case(9, 64)
def double_ops(rng):
    n = 560
    a, b = read_only(*pairs(rng, n, np.float64))
    with np.errstate(all="ignore"):
        out = [*common(a, b, "f64"), np.sqrt(a), 1 / a, less_zero(a, b, False), less_zero(a, b, True), np.abs(a), -a, np.copysign(a, b),
               np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), a < b, a == b, np.isnan(a), a.astype(FLT).astype(float),
               np.where(a > b, a, b)]
    want = np.array([np.asarray(r, float) for r in out])
    return [INT(n), a, b, np.zeros_like(want)], {3: want}


@case(2, 64, tolerance=1e-14)
def horner_double(rng):
    c, x = read_only(rng.standard_normal(10), rng.uniform(-2, 2, 100))
    return [INT(100), c, x, np.zeros(100)], {3: np.polyval(c[::-1], x)}


def directed(a, b, form):
    """Return sums, products and fused products, each rounded in the directions of the kernel."""
    ways = "nzud" if form == "f32" else "zud"
    addend = Fraction(float(FLT(0.3)) if form == "f32" else 0.3)
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b)]
    found = [[rounded(f(x, y), form, way) for x, y in exact]
             for f in (lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x * y + addend) for way in ways]
    return found, exact


@case(3, 64)
def rounding(rng):
    n = 150
    a, b = read_only(ordinary(rng, n, FLT), ordinary(rng, n, FLT, 90))
    c, d = read_only(ordinary(rng, n, np.float64), ordinary(rng, n, np.float64, 60))
    f, exact = directed(a, b, "f32")
    f += [[rounded(x / y, "f32", way) for x, y in exact] for way in "zud"]
    f += [[root(abs(x), "f32", way) for x, _ in exact] for way in "zud"]
    f += [[rounded(1 / x, "f32", way) for x, _ in exact] for way in "ud"]
    f += [[rounded(Fraction(float(x)), "f32", way) for x in c] for way in "zud"]
    f += [[rounded(int(x), "f32", "z") for x in a.view(INT)]]
    g, exact = directed(c, d, "f64")
    g += [[rounded(x / y, "f64", way) for x, y in exact] for way in "ud"]
    g += [[root(abs(x), "f64", way) for x, _ in exact] for way in "ud"]
    g += [[rounded(int(x), "f64", way) for x in c.view(np.int64)] for way in "ud"]
    f, g = np.array(f, FLT), np.array(g)
    return [INT(n), a, b, c, d, np.zeros_like(f), np.zeros_like(g)], {5: f, 6: g}


@case(3, 64)
def conversions(rng):
    n = 180
    edges = np.array([0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e-40, 2**31, 2**31 - 1, -(2**31), -(2**31) - 1, 2**32, 2**32 - 1, 2**63,
                      -(2**63), 2**64,
             3e38, -3e38, np.inf, -np.inf, np.nan, 255.5, 65535.5], float)
    y = np.append(edges, np.ldexp(rng.standard_normal(n - len(edges)), rng.integers(-4, 70, n - len(edges))))
    x = y.astype(FLT)
    z = np.append([0, 1, -1, 2**63 - 1, -(2**63), 2**31, 2**24 + 1, 2**53 + 1, -(2**53) - 3], rng.integers(-(2**62), 2**62,
        n - 9) >> rng.integers(0, 62, n - 9))
    z = z.astype(np.int64)
    floats_ = [("n", 32, 1), ("z", 32, 1), ("u", 32, 1), ("d", 32, 1), ("n", 32, 0), ("z", 32, 0), ("n", 64, 1), ("d", 64, 1), ("z", 64, 0)]
    doubles = [("n", 32, 1), ("z", 32, 1), ("u", 32, 0), ("z", 64, 1), ("n", 64, 0)]
    out = [[to_integer(float(v), way, bits, signed, bits == 64) for v in x] for way, bits, signed in floats_]
    out += [[to_integer(float(v), way, bits, signed, True) for v in y] for way, bits, signed in doubles]
    words = y.view(np.uint64)
    out += [[int(w >> 32) - (w >> 63 << 32) for w in map(int, words)],
            [int(w & 0xFFFFFFFF) - ((w & 0xFFFFFFFF) >> 31 << 32) for w in map(int, words)],
            x.view(INT).tolist(), z.astype(np.int16).tolist(), z.astype(np.uint8).tolist()]
    want = np.array([[v & 0xFFFFFFFFFFFFFFFF for v in row] for row in out], np.uint64).view(np.int64)
    low, unsigned = z.astype(INT), z.astype(np.uint32)
    whole = [low.tolist(), unsigned.tolist(), z.tolist(), z.view(np.uint64).tolist()]
    back = [[rounded(v, "f32") for v in row] for row in whole]
    back += [[rounded(v, "f64") for v in row] for row in (whole[0], whole[2], whole[3])]
    with np.errstate(over="ignore"):
        back += [x.astype(float), y.astype(FLT).astype(float)]
    back += [[rounded(v, "f32", "d") for v in whole[0]], [rounded(v, "f32", "u") for v in whole[1]]]
    back = np.array(back)
    return [INT(n), *read_only(x, y, z), np.zeros_like(want), np.zeros_like(back)], {4: want, 5: back}


def third_of(x):
    """Return x / 3 in single precision."""
    return Fraction(rounded(Fraction(x) / 3, "f32"))


def short_rows(a, b, form, dtype):
    """Return the rows that half and bfloat16 share, for arrays of pairs; exact, by fractions."""
    def each(function, *arrays):
        return np.array([rounded(function(*(Fraction(float(v)) for v in t)),
                                 form) for t in zip(*(x.ravel() for x in arrays))]).reshape(a.shape)
    add = each(lambda x, y: x + y, a, b)
    sub = each(lambda x, y: x - y, a, b)
    product = each(lambda x, y: x * y, a, b)
    fma = each(lambda x, y: x * y + x, a, b)
    crossed = np.stack([each(lambda x, y: x + y, a, b[:, ::-1])[:, 0], each(lambda x, y: x * y, a[:, ::-1], b)[:, 0]], axis=1)
    return [add, sub, product, fma, -a, np.abs(a), np.minimum(a, b), np.maximum(a, b), a < b], crossed


@case(2, 64)
def half_ops(rng):
    n = 120
    a, b = (np.ldexp(rng.standard_normal((n, 2)), rng.integers(-15, 14, (n, 2))).astype(np.float16) for _ in range(2))
    a[5], b[5], a[6], b[6] = (6e-8, 65504), (-6e-8, 1), (1, 2), (1, 3)
    x, y = a.astype(float), b.astype(float)
    first, crossed = short_rows(x, y, "f16", np.float16)
    fma = [rounded(Fraction(p) * Fraction(q) + Fraction(r), "f16") for p, q, r in zip(x[:, 0], y[:, 0], y[:, 1])]
    less = [rounded(Fraction(p) - Fraction(q), "f16") for p, q in x]
    i = np.arange(n)
    third = [(rounded(third_of(p), "f16", "z"), rounded(third_of(q), "f16", "u")) for p, q in x]
    with np.errstate(over="ignore"):
        mixed = np.stack([x[:, 0].astype(FLT) * FLT(0.1), y[:, 1].astype(FLT) + FLT(0.3)], axis=1)
        rows = [*first, x == y, np.clip(first[0], 0, 1), crossed, np.stack([fma, less], axis=1), mixed, third, x[:, ::-1],
                np.stack([x[:, 0], y[:, 0]], axis=1), np.stack([i * 37 - 900, i * 1001], axis=1),
                np.stack([np.where(x[:, 0] < y[:, 0], x[:, 0], y[:, 0]), x[:, 1]], axis=1)]
        want = np.array([np.asarray(r).astype(np.float16) for r in rows])
    return [INT(n), *read_only(a, b), np.zeros_like(want)], {3: want}


@case(2, 64)
def bfloat_ops(rng):
    n = 120
    a, b = (bfloat_bits(np.ldexp(rng.standard_normal((n, 2)), rng.integers(-60, 60, (n, 2))).astype(FLT)) for _ in range(2))
    x, y = bfloat_values(a).astype(float), bfloat_values(b).astype(float)
    first, crossed = short_rows(x, y, "bf16", None)
    with np.errstate(all="ignore"):
        mixed = np.stack([x[:, 0].astype(FLT) * FLT(0.1), y[:, 1].astype(FLT) + FLT(0.3)], axis=1).astype(float)
    third = [(rounded(third_of(p), "bf16", "z"), rounded(third_of(q), "bf16")) for p, q in x]
    rows = [*first, x >= y, crossed, [[rounded(Fraction(v), "bf16") for v in row] for row in mixed], third]
    want = np.array([np.asarray(r, float).astype(FLT).view(np.uint32) >> np.uint32(16) for r in rows]).astype(np.uint16)
    return [INT(n), *read_only(a, b), np.zeros_like(want)], {3: want}


def elementwise(function, *arrays):
    return np.array([function(*v) for v in zip(*(a.tolist() for a in arrays))])


@case(2, 64, tolerance=2e-6)
def math_float(rng):
    n = 128
    a, b = read_only(rng.uniform(0.05, 20, n).astype(FLT), rng.uniform(-7, 7, n).astype(FLT))
    x, y = a.astype(float), b.astype(float)
    want = np.array([np.exp(y), np.exp2(y), np.expm1(y), np.log(x), np.log2(x), np.log1p(x), x**y, np.cbrt(y), np.sin(y), np.cos(y),
                     np.tan(y), np.sin((FLT(1000) * b).astype(float)), np.arcsin(y / 8), np.arctan(y), np.arctan2(x, y), np.sinh(y),
                     np.tanh(y), elementwise(math.erf, y), elementwise(math.gamma, x), x**-0.5, np.hypot(x, y), np.fmod(y, x),
                     np.sin(np.pi * y)])
    return [INT(n), a, b, np.zeros(want.shape, FLT)], {3: want}


@case(2, 32, tolerance=1e-14)
def math_double(rng):
    n = 64
    x, y = read_only(rng.uniform(0.05, 20, n), rng.uniform(-7, 7, n))
    want = np.array([np.exp(y), np.log(x), x**y, np.sin(y), np.cos(y), np.tan(y), np.sin(1000 * y), np.arctan2(x, y), np.tanh(y),
                     elementwise(math.erf, y), elementwise(math.lgamma, x), np.cbrt(y), np.hypot(x, y), np.fmod(y, x), x**-0.5])
    return [INT(n), x, y, np.zeros(want.shape)], {3: want}


@case(2, 64, tolerance=5e-6)
def math_fast(rng):
    n = 128
    a, b = read_only(rng.uniform(0.05, 20, n).astype(FLT), rng.uniform(-3, 3, n).astype(FLT))
    x, y = a.astype(float), b.astype(float)
    want = np.array([np.exp(y), np.exp2(y), np.log(x), np.log2(x), np.sin(y), np.cos(y), x**y, y / x, x**-0.5, x**-0.5, np.tan(y / 8)])
    return [INT(n), a, b, np.zeros(want.shape, FLT)], {3: want}
