"""The inputs on which a kernel for C = alpha A B + beta C is tried, from plain to hard."""

import math
from dataclasses import dataclass

import numpy as np

from course_lib.check.operation import Tile
from course_lib.kernels.kernel import ceil_div

LARGEST_TILE = 128       # per axis; keeps a check at about a second


@dataclass(frozen=True)
class Case:
    """One input: sizes, factors, and by how many elements lda, ldb, ldc exceed the rows.

    >>> print(Case("whole tiles", 32, 16, 48, alpha=1.5, pad=3))
    M=32 N=16 K=48 alpha=1.5 beta=0, rows padded
    """

    name: str
    M: int
    N: int
    K: int
    alpha: float = 1.0
    beta: float = 0.0
    pad: int = 0

    def __str__(self) -> str:
        factors = f" alpha={self.alpha:g} beta={self.beta:g}" if (self.alpha, self.beta) != (1, 0) else ""
        return f"M={self.M} N={self.N} K={self.K}{factors}{', rows padded' if self.pad else ''}"


def _unit(tile: Tile) -> str:
    """Return what a size is a multiple of: a tile, or, where the kernel's launch tells of no tile along K, a block."""
    return "tile" if tile["BK"] > 1 else "block"


def whole_tile_cases(tile: Tile) -> tuple[Case, ...]:
    """Return inputs whose sizes are multiples of the tile: square, rectangular, with factors, with padded rows."""
    BM, BN, BK = (tile[name] for name in ("BM", "BN", "BK"))
    side = 2 * math.lcm(BM, BN, BK)             # several blocks and several rounds along K
    M, N, K = (side, side, side) if side <= 2 * LARGEST_TILE else (2 * BM, 2 * BN, 2 * BK)
    whole = f"whole {_unit(tile)}s"
    return (
        Case(f"square, {whole}", M, N, K),       # where swapped and transposed show for what they are
        Case(f"rectangular, {whole}" if BK > 1 else f"{whole}, K is only 3", BM, 2 * BN, 3 * BK),
        Case("alpha and beta", M, N, K, alpha=1.5, beta=-0.5),
        Case("padded rows", 2 * BM, BN, 2 * BK, alpha=-2.0, beta=0.25, pad=5),
    )


def all_cases(tile: Tile) -> tuple[Case, ...]:
    """Return the whole-tile inputs, then those that leave tiles partly filled."""
    BM, BN, BK = (tile[name] for name in ("BM", "BN", "BK"))
    unit = _unit(tile)
    return whole_tile_cases(tile) + (
        Case("K one more than a tile" if BK > 1 else "K is 2", BM, BN, BK + 1),
        Case(f"N one more than a {unit}", BM, BN + 1, BK),
        Case(f"M one more than a {unit}", BM + 1, BN, BK),
        Case(f"all one less than a {unit}, {'K below BK' if BK > 1 else 'K is 1'}", BM - 1 or 1, BN - 1 or 1, BK - 1 or 1),
        Case("a single element", 1, 1, 1),
        Case("a row times a matrix", 1, 17, 37, alpha=0.5, beta=2.0),
        Case("a matrix times a column", 17, 1, 3, pad=1),
        Case("primes, padded, alpha and beta", 37, 53, 41, alpha=1.5, beta=-0.5, pad=3),
    )


def gate_case(tile: Tile) -> Case:
    """Return the input for counters: whole tiles, at least 64 along each axis."""
    sizes = {axis: tile[name] * ceil_div(64, tile[name]) for axis, name in zip("MNK", ("BM", "BN", "BK"), strict=True)}
    return Case("counters", **sizes)


def drawn_gate_case(tile: Tile, rng: np.random.Generator) -> Case:
    """Return another input for counters: one to three whole tiles more along each axis than `gate_case` has, another alpha, padded rows."""
    plain = gate_case(tile)
    M, N, K = (size + int(rng.integers(1, 4)) * tile[name] for size, name in
               zip((plain.M, plain.N, plain.K), ("BM", "BN", "BK"), strict=True))
    return Case("counters, of a drawn size", M, N, K, alpha=float(np.float32(rng.uniform(0.5, 2))), pad=whole_sectors(rng))


def whole_sectors(rng: np.random.Generator) -> int:
    """Draw by how many elements rows are padded, so that they begin in their sectors where they would begin without."""
    return 8 * int(rng.integers(1, 4))
