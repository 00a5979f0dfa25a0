"""What is the right answer, and how far from it may a kernel be?

Each product and each addition of a kernel is rounded to the nearest float, an error of at most u = 2**-24 of
its value (double: 2**-53). A term of C's sum passes through one product, at most K - 1 additions, a product with alpha and an
addition of beta C: K + 2 roundings at most, in whatever order the kernel adds, with or without fused
multiply-add. So

    |C - exact| <= g * (|alpha| |A| |B| + |beta| |C0|),      g = (K + 2) u / (1 - (K + 2) u)

for every element (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5). A right kernel can
never exceed this; one that drops a single term exceeds it by about 1 / (K**2 u), a thousand times for K = 128.
The exact answer is itself computed in double, so the bound for double comes on top; it matters for double alone.

Tensor cores (`inputs`: what `Kernel.inputs` says) round differently, twice.

First A and B: to the nearest TF32 (11 bits: an error of at most v = 2**-11 of the number) or bfloat16 (8 bits: v = 2**-8), numbers
below 2**-126 by as much as that number. Then products are exact, but sums are no IEEE sums: of some products and the sum so far, all are
cut off at one place, at least 24 bits behind the point of the largest, added exactly, and the result is cut off to float32, which costs
up to 2u. The largest is never cut, so n products lose at most n u of the sum of all sizes. With at least 4 products at a time,
K terms lose K u and the K/4 results 2u each: (1.5 K + 2) u in all, and two roundings more with alpha and beta:

    g = (1 + v)**2 (1 + s) - 1,      s = (1.5 K + 4) u / (1 - (1.5 K + 4) u)

"At least 4 products" and "24 bits" hold for Ampere, on later chips there are more of both (Fasi, Higham, Mikaitis, Pranesh, Numerical
behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021; for Hopper arXiv:2511.10909, which the simulator follows).

Where A and B are stored as bfloat16, they are what is given (arrays of uint16, its bits), and nothing is rounded: v = 0. The same holds
for FP8 (uint8). Where C is stored as bfloat16, each element is rounded once more, by at most 2**-8 of it.

Sums of FP8 ("e4m3", v = 2**-4, numbers below 2**-6 by as much as that number) are shorter: 32 products and the sum so far are cut off
13 bits behind the point of the largest, and the result keeps 13 bits there (arXiv:2511.10909). Each group of 32 costs 33 errors of 2**-13,
K terms K + ceil(K/32) of them: the bound grows fast, and says nothing from K = 3971 on.

A float split into three bfloat16 ("bf16x3") is their sum exactly (below 2**-106 nearly, unless it is scaled before): x1 is at most
2**-8 of x, x2 at most 2**-17.
Left out are x1 y2, x2 y1 and x2 y2: 1.001 u. Tensor cores add 16 terms at a time, which loses (1.5 min(K, 16) + 2) u, 1.6 % more with
the smaller products among them; those, at most 1/127 of all and five times added to, cost 1.1 u. The ceil(K / 16) sums
are added in float32, which rounds all but the first time, and alpha and beta come last:

    s = r u / (1 - r u),      r = 1.5 min(K, 16) + ceil(K / 16) + 6

which from K = 31 on is less than float32's own K + 2. Where 64 terms are added up before ("bf16x3 by 64"), 64 takes the place of 16.
There rows of A and columns of B that cannot be scaled are multiplied in float32, and have its bound.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from course_lib.errors import CourseError
from course_lib.model.number_formats import FORMATS, from_bf16, from_e4m3


@dataclass(frozen=True)
class InputRounding:
    """What a kernel makes of A and B.

    `unit` is the rounding error v, `least` the number below which it no longer shrinks, `slope` the roundings for one more term.
    """

    unit: float
    least: float
    slope: float


INPUTS = {"": InputRounding(0.0, 0.0, 1.0), "tf32": InputRounding(2.0**-11, 2.0**-126, 1.5), "bf16": InputRounding(2.0**-8, 2.0**-126, 1.5),
          "e4m3": InputRounding(2.0**-4, 2.0**-6, 2112.0),
          "bf16x3": InputRounding(0.0, 2.0**-106, 1 / 16), "bf16x3 by 64": InputRounding(0.0, 0.0, 1 / 64)}
TERMS = {"bf16x3": 16, "bf16x3 by 64": 64}         # that a tensor core adds up before they are added in float32
FROM_BITS: dict[np.dtype, Callable[[NDArray], NDArray[np.float32]]] = {np.dtype(np.uint16): from_bf16, np.dtype(np.uint8): from_e4m3}


def tolerance(K: int, dtype: DTypeLike = np.float32, inputs: str = "", stored: bool = False) -> float:
    """Return the bound g above: error allowed, relative to the sum of the absolute values of all terms.

    `stored`: A and B have the format `inputs` already, so that only sums are rounded.

    Raises
    ------
    CourseError
        When K is so large that the format guarantees nothing, or for `inputs` that no kernel has.

    >>> f"{tolerance(1000):.2e}", f"{tolerance(1000, inputs='tf32'):.2e}", f"{tolerance(1000, inputs='bf16x3'):.2e}"
    ('5.97e-05', '1.07e-03', '5.54e-06')
    """
    kind = _kind(inputs, stored)
    u = float(np.finfo(dtype).eps) / 2
    count = roundings(K, inputs)
    if not count * u < 0.5:
        raise CourseError(f"K = {K} additions in {np.dtype(dtype).name} guarantee nothing: "
                          f"K must be below {(0.5 / u - roundings(0, inputs)) / kind.slope:.0f}")
    return (1 + kind.unit) ** 2 * (1 + count * u / (1 - count * u)) - 1 if inputs else count * u / (1 - count * u)


def roundings(K: int, inputs: str = "") -> float:
    """Return how many errors of u a term of a sum over K may pass through.

    >>> [[roundings(K, inputs) for K in (1, 16, 1024)] for inputs in ("", "tf32", "bf16x3")]
    [[3, 18, 1026], [5.5, 28.0, 1540.0], [8.5, 31.0, 94.0]]
    >>> roundings(1024, "bf16x3 by 64")
    118.0
    """
    _kind(inputs)
    if not inputs:
        return K + 2
    if inputs == "e4m3":
        return 2**11 * (K + math.ceil(K / 32)) + 2
    together = TERMS.get(inputs)
    return 1.5 * min(K, together) + math.ceil(K / together) + 6 if together else 1.5 * K + 4


def _kind(inputs: str, stored: bool = False) -> InputRounding:
    if inputs not in INPUTS:
        raise CourseError(f"inputs is {inputs!r}, but a kernel multiplies {', '.join(repr(name) for name in INPUTS)}", inputs=inputs)
    return replace(INPUTS[inputs], unit=0.0, least=0.0) if stored else INPUTS[inputs]


def _stored(X: ArrayLike) -> bool:
    """Return whether a matrix is given as the bits of bfloat16 or FP8."""
    return np.asarray(X).dtype in FROM_BITS


def _numbers(X: ArrayLike) -> NDArray[np.floating]:
    """Return a matrix as numbers."""
    X = np.asarray(X)
    return FROM_BITS[X.dtype](X) if X.dtype in FROM_BITS else X


def reference(A: ArrayLike, B: ArrayLike, C: ArrayLike | None = None, alpha: float = 1.0, beta: float = 0.0) -> NDArray[np.float64]:
    """Compute alpha A B + beta C in float64; alpha and beta are rounded to the type of A, C is not read when beta is 0.

    Arrays of uint16 are the bits of bfloat16, those of uint8 the bits of E4M3.

    Returns
    -------
    (M, N) float64 array
    """
    real = _type(A).type
    product = float(real(alpha)) * (_numbers(A).astype(np.float64) @ _numbers(B).astype(np.float64))
    return product if beta == 0 else product + float(real(beta)) * np.asarray(C, np.float64)


def limit(A: ArrayLike, inputs: str = "", rounded: bool = False) -> float:
    """Return the error that `mismatch` allows, relative to the sum of the absolute values of all terms, for a product with A.

    `rounded`: the result is stored as bfloat16.
    """
    K, last = np.shape(A)[1], FORMATS["bf16"].unit if rounded else 0.0
    sums = tolerance(K, _type(A), inputs, _stored(A))
    return sums + last * (1 + sums) + tolerance(K, np.float64)


def _type(A: ArrayLike) -> np.dtype:
    """Return the element type that a kernel for A computes in."""
    return np.dtype(np.float64 if np.asarray(A).dtype == np.float64 else np.float32)


def magnitude(A: ArrayLike, B: ArrayLike, C: ArrayLike | None = None, alpha: float = 1.0, beta: float = 0.0,
              inputs: str = "") -> NDArray[np.float64]:
    """Return the sum of the absolute values of all terms of each element, to which errors are related.

    With `inputs`, elements so small that rounding them costs more than its share count as the least that does not.
    """
    tiny, least = float(np.finfo(_type(A)).tiny), _kind(inputs, _stored(A)).least
    a, b = (np.where(x == 0, x, np.maximum(x, x.dtype.type(least))) for x in (np.abs(_numbers(A)), np.abs(_numbers(B))))
    size = reference(a, b, None if C is None else np.abs(C), abs(alpha), abs(beta))
    return size + a.shape[1] * tiny * (4 if inputs else 1)     # products below this lose digits of their own; in a split there are six


def max_error(result: ArrayLike, A: ArrayLike, B: ArrayLike, C: ArrayLike | None = None, *, alpha: float = 1.0, beta: float = 0.0,
              inputs: str = "") -> float:
    """Return the largest error of any element, relative to the sum of the absolute values of its terms.

    NaN when any element is NaN, so that `not max_error(…) <= limit(A)` finds it; `> limit(A)` would not.

    >>> A, B = np.float32([[1, 2]]), np.float32([[3], [4]])
    >>> max_error(np.float32([[11]]), A, B), max_error(np.float32([[np.nan]]), A, B)
    (0.0, nan)
    """
    return float(np.max(_errors(result, A, B, C, alpha, beta, inputs)))


def matches(result: ArrayLike, A: ArrayLike, B: ArrayLike, C: ArrayLike | None = None, *, alpha: float = 1.0, beta: float = 0.0,
            inputs: str = "") -> bool:
    """Return whether a result is within `limit(A, inputs)` of the exact one everywhere."""
    return max_error(result, A, B, C, alpha=alpha, beta=beta, inputs=inputs) <= limit(A, inputs, _stored(result))


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


def mismatch(result: ArrayLike, A: ArrayLike, B: ArrayLike, C: ArrayLike | None = None, *, alpha: float = 1.0, beta: float = 0.0,
             inputs: str = "") -> Mismatch | None:
    """Return the worst element of a result, or None when the result is right.

    `inputs`: the kernel's, `Kernel.inputs`; a kernel for tensor cores may round as much as that says.

    >>> A, B = np.float32([[1, 2]]), np.float32([[3], [4]])
    >>> print(mismatch(np.float32([[12]]), A, B))
    1 of 1 elements are wrong; C[0][0] is 12, not 11 (error 1.0e+00, rounding explains 2.6e-06)
    """
    errors, bound = _errors(result, A, B, C, alpha, beta, inputs), limit(A, inputs, _stored(result))
    wrong = ~(errors <= bound)
    if not wrong.any():
        return None
    row, col = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors)), errors.shape)
    expected = reference(A, B, C, alpha, beta)[row, col]
    allowed = bound * magnitude(A, B, C, alpha, beta, inputs)[row, col]
    got = float(_numbers(result)[row, col])
    return Mismatch(int(row), int(col), got, float(expected), abs(got - expected), float(allowed),
                    int(wrong.sum()), wrong.size)


def _errors(result: ArrayLike, A: ArrayLike, B: ArrayLike, C: ArrayLike | None, alpha: float, beta: float,
            inputs: str) -> NDArray[np.float64]:
    right = reference(A, B, C, alpha, beta)
    result = np.asarray(_numbers(result), np.float64)
    if result.shape != right.shape:
        raise CourseError(f"the result has shape {result.shape}, but A and B give {right.shape}")
    with np.errstate(invalid="ignore"):
        return np.abs(result - right) / magnitude(A, B, C, alpha, beta, inputs)
