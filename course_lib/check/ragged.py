"""Many products of different sizes in one launch as something to check: C_p = A_p B_p for each product p, float32 and row-major.

A may be lower triangular: zeros right of the diagonal, so that a tile in tile row r of C needs the first r + 1 k-steps at most.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from course_lib.check.operation import Again, Tile
from course_lib.run import accuracy
from course_lib.run.types import Argument

SIGNATURE = "int products, const int* sizes, const float* A, const float* B, float* C, float* partial, int* ready"
BLOCKS, THREADS, TILE, BK = 12, 256, 16, 16          # of the launch; rows and columns of a tile, and the depth of a k-step
GAP = 5                                              # floats of NaN between the matrices of neighbouring products
Size = tuple[int, int, int]


@dataclass(frozen=True)
class RaggedCase:
    """One input: M, N and K of each product.

    >>> print(RaggedCase("two", ((16, 16, 32), (1, 2, 3))))
    16×16×32, 1×2×3
    """

    name: str
    sizes: tuple[Size, ...]

    def __str__(self) -> str:
        told = ", ".join("×".join(map(str, size)) for size in self.sizes[:4])
        return told + (f" and {len(self.sizes) - 4} more" if len(self.sizes) > 4 else "")


def steps_of(size: Size, lower: bool = False) -> int:
    """Return the k-steps of all tiles of a product, of which A is lower triangular or full.

    >>> steps_of((64, 48, 32)), steps_of((17, 1, 1)), steps_of((64, 48, 32), lower=True)
    (24, 2, 21)
    """
    M, N, K = size
    return -(-N // TILE) * sum(min(-(-K // BK), row + 1) if lower else -(-K // BK) for row in range(-(-M // TILE)))


def all_cases(tile: Tile) -> tuple[RaggedCase, ...]:
    """Return the inputs from plain to hard."""
    return (
        RaggedCase("one product, whole tiles", ((48, 32, 48),)),
        RaggedCase("two alike", ((32, 32, 48), (32, 32, 48))),
        RaggedCase("different sizes, whole tiles", ((48, 16, 64), (16, 80, 16), (16, 16, 160))),
        RaggedCase("fewer k-steps than blocks", ((16, 16, 16), (16, 16, 32))),
        RaggedCase("one deep tile for all blocks", ((16, 16, 400),)),
        RaggedCase("partly filled tiles", ((17, 1, 33), (1, 1, 1), (31, 33, 15), (5, 7, 100))),
        RaggedCase("many small products", tuple((1 + n % 9, 1 + n % 5, 1 + 7 * n % 40) for n in range(30))),
    )


def drawn(tile: Tile, rng: np.random.Generator) -> Iterator[RaggedCase]:
    """Yield three inputs of sizes that only the generator's seed knows."""
    for number in (1, 2, 3):
        sizes = rng.integers(1, (50, 50, 90), (int(rng.integers(2, 7)), 3))
        yield RaggedCase(f"drawn input {number}", tuple((int(M), int(N), int(K)) for M, N, K in sizes))


def gate_case(tile: Tile) -> RaggedCase:
    """Return the input for counters: 93 k-steps in whole tiles, 40 of them in a single one."""
    return RaggedCase("counters", ((64, 48, 32), (16, 16, 640), (32, 16, 160), (48, 48, 16)))


def lower_case(tile: Tile) -> RaggedCase:
    """Return the input for counters where A is lower triangular: 175 k-steps in whole tiles, up to 16 in one."""
    return RaggedCase("counters", ((64, 48, 64), (256, 16, 256), (48, 48, 16)))


@dataclass(frozen=True)
class RaggedTrial:
    """One launch's arrays: matrices one behind the other with NaN between them, C full of NaN, a workspace for partial sums."""

    case: RaggedCase
    sizes: np.ndarray
    A: np.ndarray = field(repr=False)
    B: np.ndarray = field(repr=False)
    C: np.ndarray = field(repr=False)
    partial: np.ndarray = field(repr=False)
    ready: np.ndarray = field(repr=False)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        return np.int32(len(self.case.sizes)), self.sizes.ravel(), self.A, self.B, self.C, self.partial, self.ready

    def products(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield A, B and C of each product as matrices."""
        for M, N, K, a, b, c in self.sizes.tolist():
            yield self.A[a:a + M * K].reshape(M, K), self.B[b:b + K * N].reshape(K, N), self.C[c:c + M * N].reshape(M, N)


@dataclass(frozen=True)
class WrongOfProducts:
    """A wrong result: the product, the first wrong element in reading order, and a mask of that product's."""

    product: int
    row: int
    col: int
    got: float
    expected: float
    mask: np.ndarray = field(repr=False)

    def __str__(self):
        return (f"In product {self.product}, C[{self.row}][{self.col}] is {self.got:.6g} instead of {self.expected:.6g}. "
                f"{int(self.mask.sum())} of its {self.mask.size} elements are wrong")


@dataclass(frozen=True)
class Ragged:
    """C_p = A_p B_p for each product p. `sizes` has six numbers for each: M, N, K, and where its A, its B and its C begin.

    Attributes
    ----------
    lower
        A is lower triangular.
    """

    lower: bool = False
    signature = SIGNATURE

    def work(self, case: RaggedCase) -> int:
        """Return the k-steps of all products."""
        return sum(steps_of(size, self.lower) for size in case.sizes)

    def trial(self, case: RaggedCase, seed: int = 0) -> RaggedTrial:
        """Make the inputs of a case: uniform numbers from -1 to 1."""
        rng = np.random.default_rng([seed, len(case.sizes), *case.sizes[0]])
        sizes, at = [], np.zeros(3, np.int64)
        for M, N, K in case.sizes:
            sizes.append((M, N, K, *at))
            at += np.array((M * K, K * N, M * N)) + GAP
        A, B, C = (np.full(int(n), np.nan, np.float32) for n in at)
        partial, ready = np.full(BLOCKS * THREADS, np.nan, np.float32), np.zeros(BLOCKS, np.int32)
        trial = RaggedTrial(case, np.array(sizes, np.int32), A, B, C, partial, ready)
        for a, b, _ in trial.products():
            a[...], b[...] = rng.uniform(-1, 1, a.shape), rng.uniform(-1, 1, b.shape)
            if self.lower:
                a[...] = np.tril(a)
        for array in (trial.sizes, A, B):
            array.flags.writeable = False
        return trial

    def judge(self, trial: RaggedTrial) -> WrongOfProducts | str | None:
        """Return the first `WrongOfProducts`, a sentence on a store where none belongs, or None."""
        inside = np.zeros(len(trial.C), bool)
        for number, ((A, B, C), size) in enumerate(zip(trial.products(), trial.sizes.tolist(), strict=True)):
            inside[size[5]:size[5] + C.size] = True
            expected = accuracy.reference(A, B)
            with np.errstate(invalid="ignore"):
                wrong = ~(np.abs(C.astype(np.float64) - expected) <= accuracy.tolerance(A.shape[1]) * accuracy.magnitude(A, B))
            if wrong.any():
                row, col = (int(i) for i in np.argwhere(wrong)[0])
                return WrongOfProducts(number, row, col, float(C[row, col]), float(expected[row, col]), wrong)
        touched = int((~np.isnan(trial.C[~inside])).sum())
        return f"{touched} elements between the products' C were overwritten: each has M × N elements, no more" if touched else None

    def guess(self, trial: RaggedTrial, wrong: WrongOfProducts, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""."""
        A, B, C = list(trial.products())[wrong.product]
        if np.isnan(C[wrong.mask]).all():
            return "These elements are NaN, as C was before: no block ends their tile, or what it added was never left by another block"
        K, row, col = A.shape[1], wrong.row, wrong.col
        so_far = np.cumsum(A[row].astype(np.float64) * B[:, col])
        for first in range(0, K, BK):
            for last in range(first + BK, K + BK, BK):
                part = so_far[min(last, K) - 1] - (so_far[first - 1] if first else 0.0)
                if (first or last < K) and abs(part - wrong.got) <= 1e-5 * max(1.0, np.abs(so_far).max()):
                    return (f"That is the sum over k-steps {first // BK} to {-(-min(last, K) // BK) - 1} alone, of {-(-K // BK)}: the rest "
                            "was left by other blocks, and was not added")
        return ""
