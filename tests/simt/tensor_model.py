"""What tensor cores compute, in exact arithmetic, and where the PTX manual puts the elements. No code of the simulator is used.

The sums follow the published models of the H100 (arXiv:2511.10909, arXiv:2512.07004): exact products, all terms cut off 25 bits behind
the point of the largest exponent, an exact sum, cut off to float32 or rounded to float16.
"""

import math
from fractions import Fraction

import numpy as np

LEAST = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126}  # exponent of subnormal numbers


def exponent(value, kind):
    """Return the exponent field's meaning: floor(log2 |value|), not below that of subnormal numbers."""
    return max(math.frexp(value)[1] - 1, LEAST[kind])


def fused(a, b, c, kind, out):
    """Return the bits of one step: sum of a[i] * b[i], plus c; `out` is f32 or f16, and the type of c."""
    with np.errstate(invalid="ignore"):
        plain = float(np.sum(np.asarray(a) * np.asarray(b)) + c)
    if math.isnan(plain):
        return 0x7FFFFFFF if out == "f32" else 0x7FFF
    if math.isinf(plain):
        return (0x7F800000 if plain > 0 else 0xFF800000) if out == "f32" else (0x7C00 if plain > 0 else 0xFC00)
    terms = [(*product(x, y), exponent(x, kind) + exponent(y, kind)) for x, y in zip(a, b) if x and y]
    terms += [(*product(c, 1.0), exponent(c, out))] if c else []
    top = max([e for _, _, e in terms] + [-126])
    total = sum(cut(whole, e + 25 - top) for whole, e, _ in terms)
    return rounded(total, top - 25, out)


def product(x, y):
    """Return the product of two floats as (whole number, exponent of 2)."""
    (mx, ex), (my, ey) = math.frexp(x), math.frexp(y)
    return int(mx * 2**53) * int(my * 2**53), ex + ey - 106


def cut(whole, e):
    """Return whole * 2^e without its fraction."""
    size = abs(whole) << e if e >= 0 else abs(whole) >> -e
    return -size if whole < 0 else size


def rounded(whole, e, out):
    """Return the bits of whole * 2^e, towards zero as float32 or to nearest even as float16."""
    if whole == 0:
        return 0
    sign, size = whole < 0, abs(whole)
    bits, least, most = (23, -126, 127) if out == "f32" else (10, -14, 15)
    unit = max(size.bit_length() - 1 + e, least) - bits  # of the last place
    kept = cut(size, e - unit)
    if out == "f16":
        rest = Fraction(size) * Fraction(2) ** (e - unit) - kept
        kept += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and kept % 2)
    field = kept + ((unit + bits - least) << bits)  # a carry out of the fraction raises the exponent
    infinite = (most * 2 + 1) << bits
    return min(field, infinite) | sign << (31 if out == "f32" else 15)


def multiply(A, B, C, kind, out, step):
    """Return the (m, n) bits of D for float64 matrices that hold values of `kind`; C of `out`."""
    m, k = A.shape
    D = np.zeros((m, B.shape[1]), np.uint32 if out == "f32" else np.uint16)
    view = np.float32 if out == "f32" else np.float16
    for i in range(m):
        for j in range(B.shape[1]):
            c = C[i, j]
            for first in range(0, k, step):
                bits = fused(A[i, first:first + step], B[first:first + step, j], c, kind, out)
                c = float(D.dtype.type(bits).view(view))
            D[i, j] = bits
    return D


def encode(values, kind):
    """Return float64 values that a type can hold as unsigned integers of its width."""
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype({"tf32": np.float32, "f32": np.float32, "f64": np.float64, "s32": np.int32}[kind]).view(
        np.uint64 if kind == "f64" else np.uint32)


# -- fragments of mma.sync, by the formulas of the manual ("PTX ISA", Matrix Fragments for mma.…) ------
def layout_a(kind, m, k):
    """Return a function (lane, element) -> (row, column) of A, and the elements per lane."""
    if kind == "f64":
        return {(8, 4): lambda g, t, i: (g, t), (16, 4): lambda g, t, i: (g + 8 * i, t),
                (16, 8): lambda g, t, i: (g + 8 * (i % 2), t if i < 2 else t + 4),
                (16, 16): lambda g, t, i: (g + 8 * (i % 2), t + 4 * (i // 2))}[m, k]
    if kind == "tf32":
        return {4: lambda g, t, i: (g + 8 * i, t), 8: lambda g, t, i: (g + 8 * (i in (1, 3)), t if i < 2 else t + 4)}[k]
    if kind == "i8":
        return {(8, 16): lambda g, t, i: (g, 4 * t + i), (16, 16): lambda g, t, i: (g if i < 4 else g + 8, 4 * t + i % 4),
                (16, 32): lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, 4 * t + i % 4 + (0 if i < 8 else 16))}[m, k]
    if k == 8:
        return lambda g, t, i: (g if i < 2 else g + 8, 2 * t + i % 2)
    return lambda g, t, i: (g if i in (0, 1, 4, 5) else g + 8, 2 * t + i % 2 + (0 if i < 4 else 8))


def layout_b(kind, k):
    if kind in ("f64", "tf32"):
        return lambda g, t, i: (t + 4 * i, g)
    if kind == "i8":
        return lambda g, t, i: (4 * t + i % 4 + (0 if i < 4 else 16), g)
    return lambda g, t, i: (2 * t + i % 2 + (0 if i < 2 else 8), g)


def layout_c(g, t, i):
    return (g if i < 2 else g + 8), 2 * t + i % 2


def spread(matrix, where, per_lane, register_bytes=4):
    """Return the registers (32, n) that hold a matrix of unsigned integers."""
    values = np.zeros((32, per_lane), matrix.dtype)
    for lane in range(32):
        for i in range(per_lane):
            values[lane, i] = matrix[where(lane // 4, lane % 4, i)]
    return values.view(np.uint64 if register_bytes == 8 else np.uint32)


def collect(registers, where, shape, dtype):
    """Return the matrix that registers (32, n) hold."""
    values = np.ascontiguousarray(registers).view(dtype)
    matrix = np.zeros(shape, dtype)
    for lane in range(32):
        for i in range(values.shape[1]):
            matrix[where(lane // 4, lane % 4, i)] = values[lane, i]
    return matrix
