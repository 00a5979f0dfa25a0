"""Where the errors of a product come from: its numbers or its sums, and in which order and how long a tensor core adds."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import kernels
from course_lib.kernels.user import UserKernel
from course_lib.model.number_formats import from_bf16, parts, to_bf16
from course_lib.plots import Table
from course_lib.run import run
from course_lib.run.accuracy import magnitude, reference, tolerance

SIDE = 32
TILE: dict[str, Any] = {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}
DEPTHS = (16, 256, 4096)
ORDER, FRESH = "int sum = 2; sum >= 0; --sum", "float d[MT][4] = {};"
ADDED = "for (int e = 0; e < 4; ++e) acc[i][j + h][e] += d[i][e];"
LONG = ((FRESH, FRESH + " for (int i = 0; i < MT; ++i) for (int e = 0; e < 4; ++e) d[i][e] = acc[i][j + h][e];"),
        (ADDED, ADDED.replace("+=", "=")))
NINE = ((ORDER, ORDER.replace("2", "4")),
        ("int part = sum; part >= 0; --part", "int part = min(sum, 2); part >= max(sum - 2, 0); --part"))
WAYS = {                                # what is changed in the text of sgemm_split, one thing at a time
    "sgemm_split: six products": (), "all nine products": NINE, "six, the largest first": ((ORDER, "int sum = 0; sum < 3; ++sum"),),
    "six, one sum for all of K": LONG}
GROUPED = "float32, a fresh sum every 16 terms"


def numbers(K: int, positive: bool = False) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return random A (32, K) and B (K, 32): of both signs, or from 0.5 to 1.5."""
    rng = np.random.default_rng([20, K])

    def matrix(*shape):
        return rng.random(shape, np.float32) + np.float32(0.5) if positive else rng.standard_normal(shape, np.float32)
    return matrix(SIDE, K), matrix(K, SIDE)


def errors(C: NDArray[np.floating], A: NDArray[Any], B: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error of each element of C, with its sign, relative to the sum of |a| |b|."""
    return (np.asarray(C, np.float64) - reference(A, B)) / magnitude(A, B)


@dataclass(frozen=True)
class Summed:
    """What sums make of rounded numbers: the largest error, and how many elements of C are too low, exact and too high."""

    error: float
    sides: tuple[int, ...]


SIGNS = {"both signs": 0, "positive": 1, "negative": -1}           # of all terms


@functools.cache
def sources(K: int, terms: str = "both signs") -> tuple[float, Summed, Summed]:
    """Return the largest error in bfloat16 by rounding A and B alone, then what sums of tensor cores add, and sums in float32."""
    A, B = numbers(K, positive=bool(SIGNS[terms]))
    A = -A if SIGNS[terms] < 0 else A
    a, b = to_bf16(A), to_bf16(B)
    x, y = from_bf16(a), from_bf16(b)
    found = (errors(C, a, b) for C in (run("sbgemm_mma", a, b, backend="sim", **TILE).C, run("sgemm_naive", x, y, backend="sim").C))
    tensor, plain = (Summed(float(np.abs(e).max()), tuple(int(np.sum(np.sign(e) == side)) for side in (-1, 0, 1))) for e in found)
    return float(np.abs(errors(reference(a, b), A, B)).max()), tensor, plain


def where_errors_come_from() -> Table:
    """Return how large each source of errors is by itself, and on which side of the exact value the elements of C lie."""
    rows = []
    for terms, K in (*(("both signs", K) for K in DEPTHS), ("positive", DEPTHS[-1]), ("negative", DEPTHS[-1])):
        rounded, *summed = sources(K, terms)
        rows.append((f"{terms}, K = {K:,}", f"{rounded:.1e}", *(f"{e:.1e}" for e in (s.error for s in summed)),
                     *(" / ".join(map(str, s.sides)) for s in summed)))
    heads = ("terms", "A and B rounded, sums exact", "sums by tensor cores, numbers exact", "sums in float32, numbers exact",
             "tensor cores: too low / exact / too high", "float32: too low / exact / too high")
    return Table(heads, rows, f"Largest error / Σ |a| |b| in bfloat16, and on which side the sums put the {SIDE * SIDE:,} elements of C; "
                 "sbgemm_mma and sgemm_naive, simulated")


def changed(*changes: tuple[str, str]) -> UserKernel:
    """Return sgemm_split with texts replaced.

    Raises
    ------
    ValueError
        When the kernel has no such text.
    """
    text = kernels.get("sgemm_split").source
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"sgemm_split has {text.count(old)} times {old!r}")
        text = text.replace(old, new)
    return UserKernel.from_source(text, like="sgemm_split")


def in_groups(A: NDArray[np.float32], B: NDArray[np.float32], terms: int = 16) -> NDArray[np.float32]:
    """Return A B by multiply-adds rounded to float32, with a fresh sum for every `terms` terms; these sums are added in float32."""
    a, b = A.astype(np.float64), B.astype(np.float64)       # in which a product of two floats is exact
    C = np.zeros((len(A), B.shape[1]), np.float32)
    for first in range(0, A.shape[1], terms):
        fresh = np.zeros_like(C)
        for k in range(first, min(first + terms, A.shape[1])):
            fresh = (fresh + a[:, k, None] * b[k]).astype(np.float32)
        C += fresh
    return C


@functools.cache
def error_of(way: str, K: int) -> float:
    """Return the largest error of sgemm_split, changed as `WAYS` says, of float32 `GROUPED`, or of a kernel."""
    A, B = numbers(K)
    if way == GROUPED:
        C = in_groups(A, B)
    else:
        C = run(changed(*WAYS[way]), A, B, backend="sim", **TILE).C if way in WAYS else run(way, A, B, backend="sim").C
    return float(np.abs(errors(C, A, B)).max())


def ways_to_add() -> Table:
    """Return the errors of sgemm_split with one thing changed at a time, and of float32 with one sum and with many, by K."""
    rows = [(way, *(f"{error_of(way, K):.1e}" for K in DEPTHS)) for way in (*WAYS, "sgemm_naive", GROUPED)]
    return Table(("how it is added", *(f"K = {K:,}" for K in DEPTHS)), rows,
                 "Largest error / Σ |a| |b|, random numbers of both signs; simulated, the last row NumPy")


def sizes_of_products(K: int = 512) -> list[list[float]]:
    """Return how large the product of part i of A and part j of B is at most, relative to the sum of |a| |b|."""
    A, B = numbers(K)
    size = magnitude(A, B)
    return [[float(np.max(np.abs(x.astype(np.float64) @ y.astype(np.float64)) / size)) for y in parts(B)] for x in parts(A)]


def nine_products() -> Table:
    """Return the sizes of the nine products of parts, beside the error of float32's product."""
    rows = [(f"A{i}", *(f"{size:.0e}" for size in sizes)) for i, sizes in enumerate(sizes_of_products())]
    A, B = numbers(512)
    plain = float(np.abs(errors(run("sgemm_naive", A, B, backend="sim").C, A, B)).max())
    caption = f"Largest element of each product / Σ |a| |b|, K = 512; sgemm_naive's largest error is {plain:.0e}"
    return Table(("", "B0", "B1", "B2"), rows, caption)


@functools.cache
def error_with_parts(count: int, K: int) -> float:
    """Return the largest error of sgemm_split with 1, 2 or 3 parts: one, three or six products."""
    A, B = numbers(K)
    fewer = changed((ORDER, ORDER.replace("2", str(count - 1))))
    return float(np.abs(errors(run(fewer, A, B, backend="sim", **TILE).C, A, B)).max())


def when_enough() -> Table:
    """Return the errors with one, two and three parts beside float32's error and bound, by K."""
    rows = [(f"{K:,}", *(f"{error_with_parts(count, K):.0e}" for count in (1, 2, 3)), f"{error_of('sgemm_naive', K):.0e}",
             f"{tolerance(K):.0e}") for K in DEPTHS]
    return Table(("K", "1 part, 1 product", "2 parts, 3 products", "3 parts, 6 products", "float32, sgemm_naive", "float32's bound"), rows,
                 "Largest error / Σ |a| |b|, random numbers of both signs; sgemm_split with fewer parts, simulated")
