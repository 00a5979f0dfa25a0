"""A product of numbers of 8 bits that share a scale as something to check: C = A B, whole numbers in blocks of 32 along K.

A number is stored as the nearest whole multiple of its block's scale, the largest magnitude of the block divided by 127. Rows of A, and
columns of B, are stored one behind the other in whole blocks: behind K there are zeros.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from course_lib.check.case import Case
from course_lib.check.case import all_cases as all_products
from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import ProductTrial, viewed
from course_lib.check.sgemm import WrongProduct, _stray
from course_lib.run import accuracy
from course_lib.run.types import Argument

SIGNATURE = ("int M, int N, int K, const signed char* A, int lda, const float* a_scales, "
             "const signed char* B, int ldb, const float* b_scales, float* C, int ldc")
TILE = {"BM": 32, "BN": 32, "BK": 32}          # of a block of threads; BK numbers share a scale
BLOCK, LARGEST = 32, 127
BETWEEN = 99                                   # what lies between padded rows
WIDE = 8                                       # blocks of numbers are up to 2^WIDE times as large or as small as 1
ALIKE = 0.99                                   # of the elements of C, that a mistake must explain


def all_cases(tile: Tile) -> tuple[Case, ...]:
    """Return the inputs of a product, from plain to hard, without alpha and beta."""
    return tuple(replace(case, name=case.name.removesuffix(", alpha and beta"), alpha=1.0, beta=0.0)
                 for case in all_products(TILE) if case.name != "alpha and beta")


def drawn(tile: Tile, rng: np.random.Generator) -> tuple[Case, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    sizes = rng.integers(1, 100, (3, 3)).tolist()
    return tuple(Case(f"drawn input {number}", M, N, K, pad=int(rng.integers(0, 4))) for number, (M, N, K) in enumerate(sizes, 1))


def stored(rows: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return what is stored of the rows of a matrix, in whole blocks, and the scale of each block.

    >>> numbers, scales = stored(np.array([[1.0, -0.24, 2.54]]))
    >>> numbers[0, :4].tolist(), round(float(scales[0, 0]), 6)
    ([50, -12, 127, 0], 0.02)
    """
    height, width = rows.shape
    blocks = np.zeros((height, -(-width // BLOCK), BLOCK))
    blocks.reshape(height, -1)[:, :width] = rows
    scales = (np.abs(blocks).max(axis=2) / LARGEST).astype(np.float32)
    numbers = np.rint(blocks / np.where(scales == 0, 1, scales)[:, :, None]).clip(-LARGEST, LARGEST)
    return numbers.astype(np.int8).reshape(height, -1), scales


@dataclass(frozen=True)
class ScaledTrial(ProductTrial):
    """One launch's arrays: A and B in 8 bits, B column by column, their scales, and `exact`, A and B before they were rounded."""

    a_scales: NDArray[np.float32] = field(kw_only=True)
    b_scales: NDArray[np.float32] = field(kw_only=True)
    exact: tuple[NDArray[np.float64], NDArray[np.float64]] = field(kw_only=True, repr=False)

    @property
    def apart(self) -> int:
        """Return how many numbers the rows of A and the columns of B begin apart."""
        return BLOCK * (self.a_scales.shape[1] + self.case.pad)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        case, apart = self.case, np.int32(self.apart)
        return (np.int32(case.M), np.int32(case.N), np.int32(case.K), self.A, apart, self.a_scales.ravel(), self.B, apart,
                self.b_scales.ravel(), self.C, np.int32(case.N + case.pad))

    def view(self, name: str, buffer: np.ndarray) -> np.ndarray:
        """Return a flat buffer as the matrix `name` that it stores; of A and B, the whole numbers."""
        case = self.case
        if name == "C":
            return viewed(buffer, case.M, case.N, case.pad)
        matrix = viewed(buffer, case.M if name == "A" else case.N, case.K, self.apart - case.K)
        return matrix if name == "A" else matrix.T

    def block_products(self) -> NDArray[np.float64]:
        """Return the products of whole numbers, block by block: (blocks, M, N)."""
        A, B = (self.view(name, buffer).astype(np.float64) for name, buffer in (("A", self.A), ("B", self.B)))
        return np.array([A[:, k:k + BLOCK] @ B[k:k + BLOCK] for k in range(0, self.case.K, BLOCK)])

    def scales(self) -> NDArray[np.float64]:
        """Return by what each of `block_products` is multiplied: (blocks, M, N)."""
        return self.a_scales.T[:, :, None].astype(np.float64) * self.b_scales.T[:, None, :]


@dataclass(frozen=True)
class Scaled:
    """C = A B with A and B in 8 bits, one scale for 32 neighbours along K, and C float32."""

    signature = SIGNATURE

    def work(self, case: Case) -> int:
        """Return the multiply-adds of a case."""
        return case.M * case.N * case.K

    def trial(self, case: Case, seed: int = 0) -> ScaledTrial:
        """Make the inputs of a case: uniform numbers, and blocks of very different magnitudes."""
        rng = np.random.default_rng([seed, case.M, case.N, case.K])
        exact, made = [], []
        for height in (case.M, case.N):
            sizes = 2.0 ** rng.uniform(-WIDE, WIDE, (height, -(-case.K // BLOCK)))
            rows = rng.uniform(-1, 1, (height, case.K)) * sizes.repeat(BLOCK, axis=1)[:, :case.K]
            numbers, scales = stored(rows)
            width = numbers.shape[1]
            buffer = np.full((height - 1) * (width + BLOCK * case.pad) + width, BETWEEN, np.int8)
            viewed(buffer, height, width, BLOCK * case.pad)[...] = numbers
            for array in (buffer, scales):
                array.flags.writeable = False      # a kernel that writes there is stopped
            exact.append(rows)
            made.append((buffer, scales))
        C = np.full((case.M - 1) * (case.N + case.pad) + case.N, np.nan, np.float32)
        (A, a_scales), (B, b_scales) = made
        return ScaledTrial(case, A, B, C, C.copy(), a_scales=a_scales, b_scales=b_scales, exact=(exact[0], exact[1].T))

    def judge(self, trial: ScaledTrial) -> WrongProduct | str | None:
        """Return the first `WrongProduct` element, a sentence on a store where none belongs, or None.

        The numbers as they are stored are multiplied in float64; C may be off by what float32 rounds.
        """
        expected = (trial.scales() * trial.block_products()).sum(axis=0)
        sizes = replace(trial, A=np.abs(trial.A), B=np.abs(trial.B))
        allowed = accuracy.tolerance(trial.case.K) * (sizes.scales() * sizes.block_products()).sum(axis=0)
        C = trial.matrices()[3]
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(C.astype(np.float64) - expected) <= allowed)      # true for NaN
        if wrong.any():
            row, col = (int(i) for i in np.argwhere(wrong)[0])
            return WrongProduct(row, col, float(C[row, col]), float(expected[row, col]), float(allowed[row, col]), wrong)
        return _stray(trial)

    def guess(self, trial: ScaledTrial, wrong: WrongProduct, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `Sgemm.guess`."""
        C = trial.matrices()[3].astype(np.float64)
        if np.isnan(C[wrong.mask]).all():
            return "C was filled with NaN beforehand, and these elements still hold it: they were never written"
        return next((says for says, mistaken in _mistakes(trial) if np.isclose(C, mistaken, 1e-4, 1e-30).mean() > ALIKE), "")


def _mistakes(trial: ScaledTrial) -> Mistakes:
    """Yield (sentence, the result that this mistake gives)."""
    products, scales, shape = trial.block_products(), trial.scales(), trial.a_scales.shape
    a, b = trial.a_scales.T[:, :, None].astype(np.float64), trial.b_scales.T[:, None, :].astype(np.float64)
    whole = products.sum(axis=0)
    yield "All of C is 0: is the sum stored?", 0 * whole
    yield "No scale is applied: these are the sums of whole numbers", whole
    yield "Only the scales of A are applied", (a * products).sum(axis=0)
    yield "Only the scales of B are applied", (b * products).sum(axis=0)
    row, col = np.indices(whole.shape)
    loaded = b[:, 0, np.minimum(col // 8 * 8 + row % 8, whole.shape[1] - 1)]
    yield ("A sum is scaled by the column of B whose numbers the lane loads, g: it belongs to column 2 t + e % 2",
           (a * loaded * products).sum(axis=0))
    if len(products) > 1:
        yield "The scales of the first block are applied to all of K: each block has its own", scales[0] * whole
        yield "The scales of the last block are applied to all of K: each block has its own", scales[-1] * whole
        yield ("The whole numbers of a block are still there when the next block is added: each block's sum begins with 0",
               (scales * products.cumsum(axis=0)).sum(axis=0))
        yield "The last block along K is missing", (scales * products)[:-1].sum(axis=0)
        yield ("The scales of A are read as if those of a block stood side by side: a row's are, a_scales[row * blocks + block]",
               (trial.a_scales.ravel().reshape(shape[::-1])[:, :, None] * b * products).sum(axis=0))
