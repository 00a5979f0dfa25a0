"""Where the errors of a product come from: its numbers or its sums, and how long a tensor core adds."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import kernels
from course_lib.kernels.user import UserKernel
from course_lib.lessons.few_bits.errors import as_power
from course_lib.model.number_formats import from_bf16, parts, to_bf16
from course_lib.plots import Table
from course_lib.run import run
from course_lib.run.accuracy import magnitude, reference, tolerance

SIDE = 32
TILE: dict[str, Any] = {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}
DEPTHS = (16, 256, 4096)
LONGEST = DEPTHS[-1]
TERMS = 64                              # of a sum of sgemm_parts
ORDER = "int sum = 2; sum >= 0; --sum"  # of the products of sgemm_split
FRESH, ADDED = "float d[BN / 2] = {};", "c[i] += d[i];"
ONE_SUM = ((FRESH, FRESH + " for (int i = 0; i < BN / 2; ++i) d[i] = c[i];"), (ADDED, "c[i] = d[i];"))      # changes of sgemm_parts


def numbers(K: int, positive: bool = False, seed: int = 20) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return random A (32, K) and B (K, 32): of both signs, or from 0.5 to 1.5."""
    rng = np.random.default_rng([seed, K])

    def matrix(*shape):
        return rng.random(shape, np.float32) + np.float32(0.5) if positive else rng.standard_normal(shape, np.float32)
    return matrix(SIDE, K), matrix(K, SIDE)


def errors(C: NDArray[np.floating], A: NDArray[Any], B: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error of each element of C, with its sign, relative to the sum of |a| |b|."""
    return (np.asarray(C, np.float64) - reference(A, B)) / magnitude(A, B)


@functools.cache
def summed(sign: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the errors that sums of `LONGEST` terms of one sign make of numbers in bfloat16: by tensor cores, then in float32.

    The numbers are given in bfloat16, and their products are exact in both.
    """
    A, B = numbers(LONGEST, positive=True)
    a, b = to_bf16(sign * A), to_bf16(B)
    C = run("sbgemm_mma", a, b, backend="sim", **TILE).C, run("sgemm_naive", from_bf16(a), from_bf16(b), backend="sim").C
    return errors(C[0], a, b), errors(C[1], a, b)


def sides(found: NDArray[np.float64]) -> tuple[int, ...]:
    """Return how many elements of C are too low, exact and too high.

    >>> sides(np.array([-1e-9, 0, 2e-9, 3e-9]))
    (1, 1, 2)
    """
    return tuple(int(np.sum(np.sign(found) == side)) for side in (-1, 0, 1))


def changed(name: str, *changes: tuple[str, str]) -> UserKernel:
    """Return a kernel of the catalog with texts replaced.

    Raises
    ------
    ValueError
        When the kernel has no such text.
    """
    text = kernels.get(name).source
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{name} has {text.count(old)} times {old!r}")
        text = text.replace(old, new)
    return UserKernel.from_source(text, like=name)


def in_short_sums(A: NDArray[np.float32], B: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return A B by sgemm_naive, with a fresh sum for every `TERMS` terms; these sums are added in float32."""
    C = np.zeros((len(A), B.shape[1]), np.float32)
    for k in range(0, A.shape[1], TERMS):
        C = run("sgemm_naive", A[:, k:k + TERMS], B[k:k + TERMS], C, beta=1, backend="sim").C
    return C


def largest_error(C: NDArray[np.floating], A: NDArray[Any], B: NDArray[Any]) -> float:
    """Return the largest error of a product."""
    return float(np.abs(errors(C, A, B)).max())


@functools.cache
def error_of(kernel: str, K: int) -> float:
    """Return the largest error of a kernel of the catalog with `numbers(K)`."""
    A, B = numbers(K)
    return largest_error(run(kernel, A, B, backend="sim").C, A, B)


@functools.cache
def ways(seed: int = 20) -> dict[tuple[bool, bool], float]:
    """Return the largest errors with K = `LONGEST`, by two things: are numbers split into parts, and are sums short, of `TERMS` terms?"""
    A, B = numbers(LONGEST, seed=seed)
    naive, parts_in_long, in_parts = (run(kernel, A, B, backend="sim").C
                                      for kernel in ("sgemm_naive", changed("sgemm_parts", *ONE_SUM), "sgemm_parts"))
    made = {(False, False): naive, (False, True): in_short_sums(A, B), (True, False): parts_in_long, (True, True): in_parts}
    return {way: largest_error(C, A, B) for way, C in made.items()}


@functools.cache
def exact_sums(K: int = LONGEST) -> float:
    """Return the largest error of six products of parts whose sums lose nothing but what float64 does."""
    A, B = numbers(K)
    a, b = ([part.astype(np.float64) for part in parts(x)] for x in (A, B))
    return largest_error(sum((a[i] @ b[j] for i in range(3) for j in range(3 - i)), np.zeros((SIDE, SIDE))), A, B)


def sizes_of_products(K: int = 256) -> list[list[float]]:
    """Return how large the product of part i of A and part j of B is at most, relative to the sum of |a| |b|."""
    A, B = numbers(K)
    size = magnitude(A, B)
    return [[float(np.max(np.abs(x.astype(np.float64) @ y.astype(np.float64)) / size)) for y in parts(B)] for x in parts(A)]


@functools.cache
def error_with_parts(count: int, K: int) -> float:
    """Return the largest error of sgemm_split with 1, 2 or 3 parts: one, three or six products."""
    A, B = numbers(K)
    fewer = changed("sgemm_split", (ORDER, ORDER.replace("2", str(count - 1))))
    return largest_error(run(fewer, A, B, backend="sim", **TILE).C, A, B)


def when_enough() -> Table:
    """Return the errors with two parts beside float32's error and bound, by K."""
    rows = [(f"{K:,}", *map(as_power, (error_with_parts(2, K), error_of("sgemm_naive", K), tolerance(K)))) for K in DEPTHS]
    return Table(("K", "2 parts, 3 products", "float32, sgemm_naive", "float32's bound"), rows,
                 "Largest error / Σ |a| |b| of random numbers, computed by the simulator; "
                 "the two parts by sgemm_split with three of its products")
