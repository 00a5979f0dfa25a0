"""Products of many shapes, drawn by a seed: those that a dispatcher's table is made from, and others that it never saw."""

import math
from collections.abc import Sequence

import numpy as np

from course_lib.bench.race import CONTESTANTS, Heat

TUNED_SEED, HELD_OUT_SEED = 1, 2
TUNED, HELD_OUT = 32, 12           # products of each element type
LEAST_WORK, MOST_WORK = 2**22, 2**36           # multiply-adds of a product
# The least and the largest M, N and K of a kind. A square draws one number for all three.
KINDS = {
    "square": ((200, 4096),) * 3, "tall": ((2000, 20000), (64, 512), (64, 1024)), "wide": ((64, 512), (2000, 20000), (64, 1024)),
    "deep": ((64, 900), (64, 900), (3000, 20000)), "shallow": ((1000, 4096), (1000, 4096), (16, 128)), "any": ((100, 3000),) * 3,
}
ORDER = ("square", "tall", "square", "wide", "any", "deep", "square", "shallow")
# Operands as they are, or transposed: two in five are. Its length and that of ORDER have no common divisor, so that kinds and these mix.
TRANSPOSED = ((0, 0), (0, 0), (0, 1), (0, 0), (1, 0), (0, 0), (0, 0), (1, 1), (0, 0), (0, 1), (0, 0), (1, 0), (0, 0))
EVERY = 8                          # aligned sizes are multiples of it; the others are odd


def shapes(seed: int, count: int, dtypes: Sequence[str] = tuple(CONTESTANTS), avoid: Sequence[Heat] = ()) -> tuple[Heat, ...]:
    """Return `count` products of each element type, the same ones for the same seed.

    Sizes are drawn evenly on a logarithmic scale; every second product has sizes that are multiples of 8, the others have odd ones.

    Parameters
    ----------
    avoid
        Products that are not to be drawn, whatever their element type.

    >>> drawn = shapes(1, 4, ("float32",))
    >>> len(drawn), drawn == shapes(1, 4, ("float32",)), drawn[0].M == drawn[0].N == drawn[0].K
    (4, True, True)
    """
    rng = np.random.default_rng(seed)
    taken = {_sizes(heat) for heat in avoid}
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        i = len(found)
        sizes = _draw(rng, ORDER[i % len(ORDER)], aligned=i // len(ORDER) % 2 == i % 2)
        if LEAST_WORK <= math.prod(sizes) <= MOST_WORK and (*sizes, *TRANSPOSED[i % len(TRANSPOSED)]) not in taken:
            found.append((*sizes, *TRANSPOSED[i % len(TRANSPOSED)]))
            taken.add(found[-1])
    return tuple(Heat(dtype, *numbers) for dtype in dtypes for numbers in found)


def tuned(dtypes: Sequence[str] = tuple(CONTESTANTS)) -> tuple[Heat, ...]:
    """Return the products that the dispatcher's table is made from."""
    return shapes(TUNED_SEED, TUNED, dtypes)


def held_out(seed: int = HELD_OUT_SEED, count: int = HELD_OUT, dtypes: Sequence[str] = tuple(CONTESTANTS)) -> tuple[Heat, ...]:
    """Return products that the table was not made from.

    >>> {heat.M for heat in held_out()} & {heat.M for heat in tuned()}
    set()
    """
    return shapes(seed, count, dtypes, tuned(dtypes))


def _sizes(heat):
    return heat.M, heat.N, heat.K, heat.TRANSA, heat.TRANSB


def _draw(rng, kind, aligned):
    """Return M, N and K of one product."""
    drawn = [math.exp(rng.uniform(math.log(low), math.log(high))) for low, high in KINDS[kind]]
    if kind == "square":
        drawn = drawn[:1] * 3
    return tuple(EVERY * max(1, round(x / EVERY)) if aligned else 2 * int(x / 2) + 1 for x in drawn)
