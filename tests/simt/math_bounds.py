"""Functions of the CUDA math library: a reference in Python and the largest error in ulp.

The errors are those of the "CUDA C++ Programming Guide", appendix "Mathematical Functions", tables "Single-Precision Mathematical
Standard Library Functions with Maximum ULP Error" and the same for double precision. References are NumPy's functions on 64-bit
mantissas (`np.longdouble`, x87) where it has them, Python's `math` otherwise, whose own error is below 1 ulp of a double.
"""

import math

import numpy as np

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")


def wide(function):
    return lambda *x: function(*(LONG(v) for v in x))


def plain(function, poles=()):
    """Python's function of doubles; it raises where C's returns infinity or NaN."""
    def safe(*x):
        try:
            return LONG(function(*map(float, x)))
        except OverflowError:
            return LONG(math.inf)
        except ValueError:
            return LONG(dict(poles).get(float(x[0]), math.nan))
    return safe


def turned(function, other, x, sign):
    """Return function(pi x), with the argument brought exactly to a quarter turn around 0; `sign` is the one behind half a turn."""
    if not math.isfinite(x):
        return LONG(math.nan)
    near = abs(LONG(x) - 2 * np.rint(LONG(x) / 2))
    if near <= 0.25:
        return function(PI * near)
    return other(PI * (LONG(0.5) - near)) if near <= 0.75 else sign * function(PI * (1 - near))


def sinpi(x):
    below = LONG(x) - 2 * np.rint(LONG(x) / 2) if math.isfinite(x) else x
    found = turned(np.sin, np.cos, x, 1)
    return np.copysign(found, below if below and found else x)


def gamma(x):
    if float(x) == -math.inf or float(x) < 0 and float(x).is_integer():
        return LONG(math.nan)
    if float(x) == 0:
        return LONG(math.copysign(math.inf, x))
    return np.copysign(plain(math.gamma)(x), LONG(x) if abs(float(x)) < 1 else plain(math.gamma)(x))


def lgamma(x):
    return LONG(math.inf) if math.isinf(x) or float(x) <= 0 and float(x).is_integer() else plain(math.lgamma)(x)


# name -> (reference, largest error of float, of double); errors of plain references are allowed one ulp of a double more
ONE = {
    "sqrt": (wide(np.sqrt), 0, 0), "rsqrt": (wide(lambda x: 1 / np.sqrt(x)), 2, 1), "cbrt": (wide(np.cbrt), 1, 1),
    "exp": (wide(np.exp), 2, 1), "exp2": (wide(np.exp2), 2, 1), "exp10": (wide(lambda x: LONG(10) ** x), 2, 1),
    "expm1": (wide(np.expm1), 1, 1),
    "log": (wide(np.log), 1, 1), "log2": (wide(np.log2), 1, 1), "log10": (wide(np.log10), 2, 1), "log1p": (wide(np.log1p), 1, 1),
    "sin": (wide(np.sin), 2, 2), "cos": (wide(np.cos), 2, 2), "tan": (wide(np.tan), 4, 2),
    "sinpi": (sinpi, 1, 2), "cospi": (lambda x: turned(np.cos, np.sin, x, -1), 1, 2),
    "asin": (wide(np.arcsin), 2, 2), "acos": (wide(np.arccos), 2, 2), "atan": (wide(np.arctan), 2, 2),
    "sinh": (wide(np.sinh), 3, 2), "cosh": (wide(np.cosh), 2, 1), "tanh": (wide(np.tanh), 2, 1),
    "asinh": (wide(np.arcsinh), 3, 3), "acosh": (wide(np.arccosh), 4, 3), "atanh": (wide(np.arctanh), 3, 2),
    "erf": (plain(math.erf), 2, 2), "erfc": (plain(math.erfc), 4, 5), "tgamma": (gamma, 5, 10), "lgamma": (lgamma, 6, 4),
    "ceil": (wide(np.ceil), 0, 0), "floor": (wide(np.floor), 0, 0), "trunc": (wide(np.trunc), 0, 0), "rint": (wide(np.rint), 0, 0),
    "nearbyint": (wide(np.rint), 0, 0), "fabs": (wide(np.abs), 0, 0),
    "round": (wide(lambda x: np.copysign(np.floor(np.abs(x) + LONG(0.5)), x)), 0, 0),
}
TWO = {
    "pow": (wide(np.power), 4, 2), "atan2": (wide(np.arctan2), 3, 2), "hypot": (wide(np.hypot), 3, 2), "fmod": (wide(np.fmod), 0, 0),
    "remainder": (plain(math.remainder), 0, 0), "fmax": (wide(np.fmax), 0, 0), "fmin": (wide(np.fmin), 0, 0),
    "copysign": (wide(np.copysign), 0, 0), "fdim": (wide(lambda x, y: x - y if not x <= y else LONG(0)), 0, 0),
}
INEXACT = ("erf", "erfc", "tgamma", "lgamma")
# Arguments where the guide promises nothing, or where Python's own function is not good enough near a zero.
LEFT_OUT = {
    ("lgamma", "float"): lambda x: -10.001 < x < -2.264,
    ("lgamma", "double"): lambda x: x < 0 or 0.01 < x < 10,
}
