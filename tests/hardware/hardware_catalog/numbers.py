"""Numbers with special values among them, and exact rounding by fractions, for references."""

import math
from fractions import Fraction

import numpy as np

FORMATS = {"f16": (11, -24, 15), "bf16": (8, -133, 127), "f32": (24, -149, 127), "f64": (53, -1074, 1023)}  # bits, lowest, highest


def rounded(x, form, direction="n"):
    """Round a fraction to a floating-point format: to nearest even, or towards "z" zero, "u" above, "d" below.

    >>> rounded(Fraction(1, 3), "f16"), rounded(Fraction(-1, 3), "f16", "u"), rounded(Fraction(10)**5, "f16", "z")
    (0.333251953125, -0.333251953125, 65504.0)
    """
    x = Fraction(x)
    digits, lowest, highest = FORMATS[form]
    if x == 0:
        return 0.0
    down = direction == "d" or direction == "z" and x > 0
    up = direction == "u" or direction == "z" and x < 0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2)**exponent > size
    step = Fraction(2)**max(exponent - digits + 1, lowest)
    result = step * (math.floor(x / step) if down else math.ceil(x / step) if up else round(x / step))
    limit = (2**digits - 1) * Fraction(2)**(highest - digits + 1)
    if abs(result) > limit:
        inwards = down and x > 0 or up and x < 0
        result = limit if inwards else math.inf
    return -float(abs(result)) if x < 0 else float(abs(result))


def root(x, form, direction):
    """Return the square root of a positive fraction, rounded like `rounded`; exact, by integer roots."""
    x = Fraction(x)
    scale = 400 if form != "f64" else 2400
    whole = math.isqrt(x.numerator * 4**scale // x.denominator)
    sticky = Fraction(1, 3) if Fraction(whole)**2 != x * 4**scale else 0
    return rounded((whole + sticky) / 2**scale, form, direction)


def specials(dtype):
    """Return NaN, infinities, zeros, subnormals, the limits and a few numbers near 1."""
    info = np.finfo(dtype)
    one = dtype(1)
    found = [np.nan, np.inf, -np.inf, 0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny,
             -info.tiny * (one - info.epsneg), info.max, -info.max, 1.0, -1.0, one + info.eps, one - info.epsneg, 0.5, 2.5, 3.5, -2.5,
             1.5, 3.0, -7.0]
    return np.array(found, dtype)


def pairs(rng, n, dtype, wide=True):
    """Return two arrays of n numbers: every pair of special values, then random ones of all sizes."""
    some = specials(dtype)
    a, b = (g.ravel() for g in np.meshgrid(some, some))
    left = n - a.size
    spread = np.finfo(dtype).maxexp - 3 if wide else 6
    rest = [np.ldexp(rng.standard_normal(left), rng.integers(-spread, spread, left)).astype(dtype) for _ in range(2)]
    return np.append(a, rest[0]).astype(dtype), np.append(b, rest[1]).astype(dtype)


def ordinary(rng, n, dtype, exponents=40):
    """Return n random numbers that are neither zero nor special."""
    return np.ldexp(rng.standard_normal(n), rng.integers(-exponents, exponents, n)).astype(dtype)


def bfloat_bits(values):
    """Round single-precision numbers to bfloat16; return the bits."""
    bits = values.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def bfloat_values(bits):
    """Return bfloat16 numbers as single-precision ones."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_integer(value, direction, bits, signed, wide):
    """Convert a floating-point number as PTX does: clamped; NaN is 0, or 1 << (bits - 1) when a side has 64 bits (`wide`)."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(value):
        return (low if signed else 1 << bits - 1) if wide else 0
    if math.isinf(value):
        return high if value > 0 else low
    rounding = {"n": round, "z": math.trunc, "u": math.ceil, "d": math.floor}[direction]
    return min(max(rounding(value), low), high)
