"""What is the right answer, and how far from it may a kernel be?

Each product and each addition of a kernel is rounded to the nearest float, an error of at most u = 2**-24 of
its value (double: 2**-53). A term of C's sum passes through one product, at most K - 1 additions, a product with alpha and an
addition of beta C: K + 2 roundings at most, in whatever order the kernel adds, with or without fused
multiply-add. So

    |C - exact| <= g * (|alpha| |A| |B| + |beta| |C0|),      g = (K + 2) u / (1 - (K + 2) u)

for every element (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5). A right kernel can
never exceed this; one that drops a single term exceeds it by about 1 / (K**2 u), a thousand times for K = 128.
The exact answer is itself computed in double, so the bound for double comes on top; it matters for double alone.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.errors import CourseError


def tolerance(K, dtype=np.float32):
    """Return the bound g above: error allowed, relative to the sum of the absolute values of all terms.

    Raises
    ------
    CourseError
        When K is so large that the format guarantees nothing.

    >>> f"{tolerance(1000):.2e}"
    '5.97e-05'
    """
    u = float(np.finfo(dtype).eps) / 2
    if not (K + 2) * u < 0.5:
        raise CourseError(f"K = {K} additions in {np.dtype(dtype).name} guarantee nothing: "
                          f"K must be below {0.5 / u - 2:.0f}")
    return (K + 2) * u / (1 - (K + 2) * u)


def reference(A, B, C=None, alpha=1.0, beta=0.0):
    """Compute alpha A B + beta C in float64; alpha and beta are rounded to the type of A, C is not read when beta is 0.

    Returns
    -------
    (M, N) float64 array
    """
    real = _type(A).type
    product = float(real(alpha)) * (np.asarray(A, np.float64) @ np.asarray(B, np.float64))
    return product if beta == 0 else product + float(real(beta)) * np.asarray(C, np.float64)


def limit(A):
    """Return the error that `mismatch` allows, relative to the sum of the absolute values of all terms, for a product with A."""
    K = np.shape(A)[1]
    return tolerance(K, _type(A)) + tolerance(K, np.float64)


def _type(A):
    """Return the element type that a kernel for A computes in."""
    return np.dtype(np.float64 if np.asarray(A).dtype == np.float64 else np.float32)


def magnitude(A, B, C=None, alpha=1.0, beta=0.0):
    """Return the sum of the absolute values of all terms of each element, to which errors are related."""
    tiny = float(np.finfo(_type(A)).tiny)
    A, B = np.abs(np.asarray(A)), np.abs(np.asarray(B))
    size = reference(A, B, None if C is None else np.abs(C), abs(alpha), abs(beta))
    return size + A.shape[1] * tiny     # products below this lose digits of their own


def max_error(result, A, B, C=None, *, alpha=1.0, beta=0.0):
    """Return the largest error of any element, relative to the sum of the absolute values of its terms.

    NaN when any element is NaN, so that `not max_error(…) <= limit(A)` finds it; `> limit(A)` would not.

    >>> A, B = np.float32([[1, 2]]), np.float32([[3], [4]])
    >>> max_error(np.float32([[11]]), A, B), max_error(np.float32([[np.nan]]), A, B)
    (0.0, nan)
    """
    return float(np.max(_errors(result, A, B, C, alpha, beta)))


def matches(result, A, B, C=None, *, alpha=1.0, beta=0.0):
    """Return whether a result is within `limit(A)` of the exact one everywhere."""
    return max_error(result, A, B, C, alpha=alpha, beta=beta) <= limit(A)


@dataclass(frozen=True)
class Mismatch:
    """The worst element of a wrong result, and how many are wrong.

    `error` and `allowed` are in the units of the element itself.
    """

    row: int
    col: int
    got: float
    expected: float
    error: float
    allowed: float
    count: int
    size: int

    def __str__(self):
        """Return one sentence for the reader."""
        return (f"{self.count} of {self.size} elements are wrong; C[{self.row}][{self.col}] is {self.got:g}, "
                f"not {self.expected:g} (error {self.error:.1e}, rounding explains {self.allowed:.1e})")


def mismatch(result, A, B, C=None, *, alpha=1.0, beta=0.0):
    """Return the worst element of a result, or None when the result is right.

    >>> A, B = np.float32([[1, 2]]), np.float32([[3], [4]])
    >>> print(mismatch(np.float32([[12]]), A, B))
    1 of 1 elements are wrong; C[0][0] is 12, not 11 (error 1.0e+00, rounding explains 2.6e-06)
    """
    errors, bound = _errors(result, A, B, C, alpha, beta), limit(A)
    wrong = ~(errors <= bound)
    if not wrong.any():
        return None
    row, col = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors)), errors.shape)
    expected = reference(A, B, C, alpha, beta)[row, col]
    allowed = bound * magnitude(A, B, C, alpha, beta)[row, col]
    got = float(np.asarray(result)[row, col])
    return Mismatch(int(row), int(col), got, float(expected), abs(got - expected), float(allowed),
                    int(wrong.sum()), wrong.size)


def _errors(result, A, B, C, alpha, beta):
    right = reference(A, B, C, alpha, beta)
    result = np.asarray(result, np.float64)
    if result.shape != right.shape:
        raise CourseError(f"the result has shape {result.shape}, but A and B give {right.shape}")
    with np.errstate(invalid="ignore"):
        return np.abs(result - right) / magnitude(A, B, C, alpha, beta)
