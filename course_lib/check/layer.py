"""A layer of a network as something to check: C = act(A B + bias), and on the way back C = (A where H > 0, else 0) B.

A row of A is one input of the layer, a column of B the weights of one of its outputs, which has one bias. `act` is ReLU, which makes 0 of
what is below 0, or leaky ReLU, which multiplies that by a slope; NaN stays NaN. On the way back A is the slope of the loss with respect to
H, the output of a ReLU. Inputs, their storage and the mistakes of a product are those of `sgemm`.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from course_lib.check.case import Case, all_cases
from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import ProductTrial, filled, viewed
from course_lib.check.sgemm import Sgemm, WrongProduct, _candidates, _close, _gap, _place, _stray
from course_lib.check.transpose import UNTOUCHED
from course_lib.run import accuracy
from course_lib.run.types import Argument

TrialT = TypeVar("TrialT", bound=ProductTrial)
FORWARD = "int M, int N, int K, const float* A, int lda, const float* B, int ldb, const float* bias, float* C, int ldc"
LEAKY = "int M, int N, int K, const float* A, int lda, const float* B, int ldb, const float* bias, float slope, float* C, int ldc"
BACK = "int M, int N, int K, const float* A, int lda, const float* H, int ldh, const float* B, int ldb, float* C, int ldc"
TILE = {"BM": 32, "BN": 32, "BK": 32}       # of a block, where the kernel's text does not say
SLOPES = (0.25, 0.0625, 0.5)                # of a leaky ReLU: between 0 and 1, so that max(z, slope z) is one too


@dataclass(frozen=True)
class LayerCase(Case):
    """One input of a layer: sizes and padding; below 0 the slope of a leaky ReLU, 0 for a ReLU; whether an element of A is NaN.

    >>> print(LayerCase("some", 32, 16, 48, pad=3, slope=0.25, nan=True))
    M=32 N=16 K=48, rows padded, slope=0.25, a NaN in A
    """

    slope: float = 0.0
    nan: bool = False

    def __str__(self) -> str:
        return f"{super().__str__()}{f', slope={self.slope:g}' if self.slope else ''}{', a NaN in A' if self.nan else ''}"


def batches(tile: Tile = TILE) -> tuple[LayerCase, ...]:
    """Return the inputs of `all_cases` without alpha and beta, from plain to hard."""
    return tuple(LayerCase(case.name.removesuffix(", alpha and beta"), case.M, case.N, case.K, pad=case.pad)
                 for case in all_cases(tile) if case.name != "alpha and beta")


def forward_batches(tile: Tile = TILE) -> tuple[LayerCase, ...]:
    """Return `batches` and one with a NaN in A."""
    return (*batches(tile), LayerCase("a NaN in A", tile["BM"], 2 * tile["BN"], tile["BK"], nan=True))


def drawn(tile: Tile, rng: np.random.Generator) -> tuple[LayerCase, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    return tuple(LayerCase(f"drawn input {number}", *_three(rng), pad=int(rng.integers(0, 7))) for number in (1, 2, 3))


def _three(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return M, N and K by chance."""
    M, N, K = rng.integers(1, 100, 3)
    return int(M), int(N), int(K)


def leaky(cases: Iterable[LayerCase]) -> tuple[LayerCase, ...]:
    """Return the same inputs, each with a slope."""
    return tuple(replace(case, slope=slope) for case, slope in zip(cases, itertools.cycle(SLOPES), strict=False))


def activated(z: np.ndarray, slope: float = 0.0) -> np.ndarray:
    """Return z where it is not below 0, else slope times z.

    >>> activated(np.array([-2.0, 3.0, np.nan]), 0.25)
    array([-0.5,  3. ,  nan])
    """
    return np.where(z < 0, slope * z, z)


@dataclass(frozen=True)
class Forward(ProductTrial):
    """One launch of a layer: the matrices of `ProductTrial`, and a bias for each column of C."""

    case: LayerCase
    bias: np.ndarray = field(kw_only=True)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order; a slope only where the case has one."""
        M, N, K, _, A, lda, B, ldb, _, C, ldc = super().args
        slope = (np.float32(self.case.slope),) if self.case.slope else ()
        return (M, N, K, A, lda, B, ldb, self.bias, *slope, C, ldc)


@dataclass(frozen=True)
class Backward(ProductTrial):
    """One launch on the way back: the matrices of `ProductTrial`, and H, of the shape of A, its rows padded by other than A's."""

    case: LayerCase
    H: np.ndarray = field(kw_only=True)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        M, N, K, _, A, lda, B, ldb, _, C, ldc = super().args
        return (M, N, K, A, lda, self.H, np.int32(self.case.K + _apart(self.case)), B, ldb, C, ldc)

    def outputs(self) -> np.ndarray:
        """Return H as a matrix."""
        return viewed(self.H, self.case.M, self.case.K, _apart(self.case))


@dataclass(frozen=True)
class _Fused(ABC, Generic[TrialT]):
    """What both directions have in common: a C full of `UNTOUCHED`, NaN where NaN belongs, mistakes to tell."""

    transposed: str = ""        # as of `Sgemm`
    inputs: str = ""

    @abstractmethod
    def right(self, trial: TrialT) -> tuple[np.ndarray, np.ndarray]:
        """Return the right result, and how far rounding may be off."""

    @abstractmethod
    def _mistakes(self, trial: TrialT, tile: Tile) -> Mistakes:
        """Yield (sentence, the result that this mistake gives)."""

    def work(self, case: LayerCase) -> int:
        """Return the multiply-adds of a case."""
        return case.M * case.N * case.K

    def _plain(self, case: LayerCase, seed: int) -> dict[str, Any]:
        """Return the fields of a `ProductTrial` by name."""
        plain = Sgemm(self.transposed, self.inputs).trial(case, seed)
        plain.C.view(np.uint32)[:] = UNTOUCHED
        if case.nan:
            plain.A.flags.writeable = True
            plain.view("A", plain.A)[case.M // 2, case.K // 2] = np.nan
            plain.A.flags.writeable = False
        return {name: getattr(plain, name) for name in ("case", "A", "B", "C", "before", "transposed")}

    def judge(self, trial: TrialT) -> WrongProduct | str | None:
        """Return the first `WrongProduct` element, a sentence on a store where none belongs, or None."""
        expected, allowed = self.right(trial)
        C = trial.matrices()[3]
        with np.errstate(invalid="ignore"):
            right = (np.abs(C.astype(np.float64) - expected) <= allowed) | (np.isnan(C) & np.isnan(expected))
        wrong = ~right | _untouched(trial)
        if not wrong.any():
            return _stray(trial)
        row, col = (int(i) for i in np.argwhere(wrong)[0])
        return WrongProduct(row, col, float(C[row, col]), float(expected[row, col]), float(allowed[row, col]), wrong)

    def guess(self, trial: TrialT, wrong: WrongProduct, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `Sgemm.guess`."""
        if stray := _stray(trial):
            return stray
        C, tile = trial.matrices()[3].astype(np.float64), {**TILE, **tile}
        missing = _untouched(trial)
        if missing.any():
            row, col = (int(i) for i in np.argwhere(missing)[0])
            return (f"C was filled with NaN beforehand, and {int(missing.sum())} elements still hold it, C[{row}][{col}] first: they were "
                    "never written, or made of what C held")
        if np.isnan(wrong.expected):
            return ("A has a NaN in this row, and what is made of it must be NaN too. fmaxf(z, 0) is 0 then, and so is z > 0 ? z : 0; "
                    "z < 0 ? 0 : z stays NaN")
        if np.isnan(C[wrong.mask]).any():
            return _gap(trial) if trial.case.pad else "C was filled with NaN beforehand, and what came is made of what C held"
        right = self.right(trial)[0]
        known = (says for says, mistaken in self._mistakes(trial, tile) if _close(C, mistaken) and not _close(right, mistaken))
        return next(known, "") or _place(trial.case, wrong.mask, tile)


@dataclass(frozen=True)
class Layer(_Fused[Forward]):
    """C = act(A B + bias), float32; a leaky ReLU takes its slope, and its cases have one."""

    leaky: bool = False

    @property
    def signature(self) -> str:
        """The kernel's arguments."""
        return LEAKY if self.leaky else FORWARD

    def work(self, case: LayerCase) -> int:
        """Return the elements of C."""
        return case.M * case.N

    def trial(self, case: LayerCase, seed: int = 0) -> Forward:
        """Make the inputs of a case: as for SGEMM, with numbers from -1 to 1 in the bias."""
        bias = np.random.default_rng([seed, case.M, case.N, case.K, 1]).uniform(-1, 1, case.N).astype(np.float32)
        bias.flags.writeable = False
        return Forward(**self._plain(case, seed), bias=bias)

    def right(self, trial: Forward) -> tuple[np.ndarray, np.ndarray]:
        """Return the right result, and how far rounding may be off: a bias counts as beta C does, a slope of at most 1 as alpha."""
        A, B, _, C = trial.matrices()
        bias = np.broadcast_to(trial.bias, C.shape)
        allowed = accuracy.tolerance(trial.case.K) * accuracy.magnitude(A, B, bias, beta=1.0)
        return activated(accuracy.reference(A, B, bias, beta=1.0), trial.case.slope), allowed

    def _mistakes(self, trial: Forward, tile: Tile) -> Mistakes:
        """Yield (sentence, the result that this mistake gives)."""
        A, B, bias = (m.astype(np.float64) for m in (*trial.matrices()[:2], trial.bias))
        case = trial.case
        product, slope = A @ B, case.slope
        yield "All of C is 0: is the sum stored?", np.zeros_like(product)
        yield "C holds the bare product: neither bias nor activation", product
        yield "The bias is not added", activated(product, slope)
        yield "The activation is not applied", product + bias
        yield "The activation comes before the bias: it is meant for the whole sum, the bias included", activated(product, slope) + bias
        yield ("There is an activation before the bias: it is meant for the whole sum alone",
               activated(activated(product, slope) + bias, slope))
        if case.M <= case.N:
            yield ("The bias is taken by row: a column of C has one bias, bias[col]",
                   activated(product + bias[:case.M, None], slope))
        for says, times in (("for each tile along K", -(-case.K // tile["BK"])), ("for each k", case.K), ("twice", 2)):
            yield f"The bias is added {says}: once is enough", activated(product + times * bias, slope)
        if slope:
            yield "What is below 0 becomes 0: it must be multiplied by slope", activated(product + bias)
            yield "slope multiplies all: it is for what is below 0", slope * (product + bias)
            yield "slope multiplies what is above 0: it is for what is below", -activated(-product - bias, slope)
        yield from self._too_early(A, B, bias, slope, tile["BK"])
        yield "The product is lost: C holds what the bias alone gives", activated(0 * product + bias, slope)
        if case.M == case.N:
            yield "The result is transposed: row and col are exchanged where C is stored", activated(product + bias, slope).T
        for says, other in _candidates(A, B, 0 * product, case, tile, trial.transposed):
            yield says, activated(other + bias, slope)

    @staticmethod
    def _too_early(A: np.ndarray, B: np.ndarray, bias: np.ndarray, slope: float, depth: int) -> Mistakes:
        """Yield what comes of an activation inside the sum."""
        above = np.maximum(A, 0) @ np.maximum(B, 0) + np.minimum(A, 0) @ np.minimum(B, 0)       # of all products that are not below 0
        each = above + slope * (A @ B - above)
        yield "The activation is applied to each product: it is meant for the sum", activated(each + bias, slope)
        yield "The activation is applied to each product: it is meant for the sum", each + bias
        total = np.zeros_like(each)
        for k in range(0, A.shape[1], depth):
            total = activated(total + A[:, k:k + depth] @ B[k:k + depth], slope)
        yield ("The activation is applied to the sum after each tile along K: it comes when the sum is complete",
               activated(total + bias, slope))


@dataclass(frozen=True)
class Back(_Fused[Backward]):
    """C = (A where H > 0, else 0) B, float32: the slope of the loss with respect to a layer's inputs."""

    signature = BACK

    def trial(self, case: LayerCase, seed: int = 0) -> Backward:
        """Make the inputs of a case: as for SGEMM, and an H as ReLU leaves it, about half of it 0."""
        H = filled(np.random.default_rng([seed, case.M, case.N, case.K, 2]), case.M, case.K, _apart(case))
        np.maximum(H, 0, out=H)                # NaN between the rows stays
        H.flags.writeable = False
        return Backward(**self._plain(case, seed), H=H)

    def right(self, trial: Backward) -> tuple[np.ndarray, np.ndarray]:
        """Return the right result, and how far rounding may be off."""
        A, B, *_ = trial.matrices()
        passed = np.where(trial.outputs() > 0, A, np.float32(0))
        return accuracy.reference(passed, B), accuracy.tolerance(trial.case.K) * accuracy.magnitude(passed, B)

    def _mistakes(self, trial: Backward, tile: Tile) -> Mistakes:
        """Yield (sentence, the result that this mistake gives)."""
        A, B, H = (m.astype(np.float64) for m in (*trial.matrices()[:2], trial.outputs()))
        case = trial.case
        passed = np.where(H > 0, A, 0)
        yield "H is not asked: an element of A counts only where H is above 0", A @ B
        yield "It is the wrong way round: an element of A counts where H is above 0, not where it is 0", np.where(H > 0, 0, A) @ B
        yield "A is multiplied by H: it stays as it is where H is above 0", (A * H) @ B
        if case.N == case.K:
            yield "The result is set to 0 where H is 0: it is A that must be, before it is multiplied", np.where(H > 0, A @ B, 0)
        if case.M == case.K:
            yield "H is read transposed: its element (row, k) is H[row * ldh + k]", np.where(H.T > 0, A, 0) @ B
        yield from _candidates(passed, B, np.zeros((case.M, case.N)), case, tile, trial.transposed)


def _apart(case: Case) -> int:
    """Return by how many elements rows of H are longer than they need to be."""
    return case.pad and case.pad + 2


def _untouched(trial: ProductTrial) -> np.ndarray:
    """Return which elements of C hold what they held before the launch."""
    return trial.view("C", trial.C.view(np.uint32)) == UNTOUCHED
