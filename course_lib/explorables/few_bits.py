"""Lesson 20's explorable: the bits of a number in each format, and the error of a product over the bits that are left."""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.number_formats import bits, round_to, round_to_bits
from course_lib.run import max_error, run

NUMBERS = {"1/3": 1 / 3, "0.1": 0.1, "π": math.pi, "257": 257.0}
BITS = range(2, 24)              # behind the point: on to those of float32
PARTS = (1, 2, 3)
LEAST = -40.0                    # the chart's lowest power of two; smaller errors count as this
SIDE, K = 32, 256                # of the product: SIDE × SIDE elements with K terms each


def split(x: NDArray[np.float32], mantissa: int, count: int) -> list[NDArray[np.float32]]:
    """Return so many numbers of `mantissa` bits behind the point, each of them what the ones before leave, rounded.

    >>> [part.tolist() for part in split(np.float32([1 / 3]), 7, 2)]
    [[0.333984375], [-0.000652313232421875]]
    """
    found = []
    for _ in range(count):
        found.append(round_to_bits(x, mantissa))
        x = x - found[-1]
    return found


def matrices() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the random A and B, of both signs, whose product the chart is about: those of the whole lesson at this K."""
    rng = np.random.default_rng([20, K])
    return rng.standard_normal((SIDE, K), np.float32), rng.standard_normal((K, SIDE), np.float32)


def product(mantissa: int, count: int) -> NDArray[np.float64]:
    """Return A B from `count` parts of each number: the products of parts whose numbers add up to less than `count`, with exact sums."""
    A, B = (split(x, mantissa, count) for x in matrices())
    return sum((A[i].astype(float) @ B[j].astype(float) for i in range(count) for j in range(count - i)), np.zeros((SIDE, SIDE)))


def bound(mantissa: int, count: int) -> float:
    """Return what the error of `product` cannot exceed, relative to the sum of |a| |b|: what is left out, each as large as it can be.

    With v = 2**-(mantissa + 1) the first part leaves at most v of a number, and each further part v/2 of what the one before left: that is
    below a power of two, or it is that power, and then nothing is left. Of a float32 nothing is left either where that is less than its
    last digit. A part is as large as what was left, at most.

    >>> bound(7, 1) / 2**-7, bound(7, 2) / 2**-15, bound(7, 3) / 2**-24
    (1.001953125, 1.0000019073486328, 1.0009765625)
    """
    left = [2.0 ** -(mantissa + 1)]
    for _ in range(count):
        rest = left[-1] * left[0] / 2
        left.append(rest if rest >= 2.0**-23 else 0.0)
    products = sum(left[i - 1] * left[j - 1] for i in range(1, count) for j in range(count - i, count))
    return products + 2 * left[count - 1] + left[count - 1] ** 2


def _power(x: float) -> float:
    return round(max(math.log2(x), LEAST) if x else LEAST, 2)


def _row(name: str, value: np.float32, mantissa: int) -> dict[str, Any]:
    sign, exponent, fraction = bits(float(value)).split()
    return {"name": name, "sign": sign, "exponent": exponent, "fraction": fraction[:mantissa], "value": f"{value:.9g}"}


def _number(label: str, value: float) -> dict[str, Any]:
    x = np.float32(value)
    rows = [_row("float32", x, 23), _row("TF32", np.float32(round_to(x, "tf32")), 10),
            _row("bfloat16", np.float32(round_to(x, "bf16")), 7)]
    own = [[_row(f"part {i}", np.float32(part), n) for i, part in enumerate(split(np.asarray(x), n, len(PARTS)))] for n in BITS]
    left = [[_power(abs(float(x) - sum(map(float, split(np.asarray(x), n, count)))) / float(x)) for count in PARTS] for n in BITS]
    return {"label": label, "rows": rows, "own": own, "left": left}


@functools.cache
def states() -> dict[str, Any]:
    """Return the bits of each number, and powers of two of errors and bounds by parts and bits, as JSON takes it; one kernel runs."""
    A, B = matrices()
    errors = [[_power(max_error(product(n, count), A, B)) for n in BITS] for count in PARTS]
    return {"numbers": [_number(*item) for item in NUMBERS.items()], "bits": list(BITS), "K": K, "least": LEAST, "errors": errors,
            "bounds": [[_power(bound(n, count)) for n in BITS] for count in PARTS],
            "float32": _power(max_error(run("sgemm_naive", A, B, backend="sim").C, A, B))}


class FewBits(Explorable):
    """The bits of a number, and the error of a product; made by `few_bits`."""

    name = "few_bits"
    title = "What is left of a number, and what it costs a product"
    _esm = module_text("few_bits")

    def static_text(self) -> str:
        return f"{self.title}: sign, exponent and fraction in three formats, and errors over bits that are left. Run this cell to play it."


def few_bits(number: str = "1/3", mantissa: int = 7) -> FewBits:
    """Play how a number loses its bits, and how large the error of a product of such numbers becomes.

    Parameters
    ----------
    number
        One of `NUMBERS`.
    mantissa
        Bits behind the point, of `BITS`.
    """
    return FewBits(states=states(), values={"number": list(NUMBERS).index(number), "bits": mantissa})
