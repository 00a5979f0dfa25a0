"""C = alpha A B + beta C as something to check: its inputs, which results are right, what a wrong one looks like."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.check.case import Case
from course_lib.check.formats import factors, nearly_right, too_few_bits
from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import ProductTrial, filled, gap, shapes, stored_as
from course_lib.kernels.user import DGEMM, MAPPED, PARTED, SIGNATURE
from course_lib.model.number_formats import round_to
from course_lib.run import accuracy
from course_lib.run.inputs import Boxes

_GAP = ("NaN stands between the rows of the padded matrices, so an element there was read: "
        "rows begin lda, ldb, ldc elements apart, not K or N, and what stands behind their end is not theirs")
_GAP_TRANSPOSED = ("NaN stands behind each row, or column, of the padded matrices as they are stored, so an element there was read: "
               "the next begins lda, ldb, ldc elements on, however long it is, and what stands behind its end is not its own")


@dataclass(frozen=True)
class WrongProduct:
    """A wrong result: the first wrong element in reading order, and a mask of all."""

    row: int
    col: int
    got: float
    expected: float
    allowed: float
    mask: np.ndarray = field(repr=False)

    def __str__(self):
        return (f"C[{self.row}][{self.col}] is {self.got:.6g} instead of {self.expected:.6g}. "
                f"{int(self.mask.sum())} of {self.mask.size} elements of C are wrong (rounding explains {self.allowed:.1e})")


@dataclass(frozen=True)
class Sgemm:
    """A product with lda, ldb, ldc, row-major but for the matrices named in `transposed`: SGEMM, or DGEMM with `dtype` float64.

    A transposed matrix is stored column by column: "A" alone is C = alpha A^T B + beta C for those who take what is stored,
    K rows of M, as A; "ABC" is column-major SGEMM. `inputs`, `stored`, `boxes`: to what the kernel rounds A and B, the format in which it
    gets them, and the boxes of the tensor maps by which it fetches them, as `Kernel` has them.
    """

    transposed: str = ""
    inputs: str = ""
    dtype: str = "float32"
    stored: str = ""
    boxes: Boxes | None = None

    @property
    def signature(self) -> str:
        """Return the kernel's parameters."""
        if self.boxes:
            return ", ".join(PARTED if self.stored == "bf16x3" else MAPPED)
        return SIGNATURE if self.dtype == "float32" else ", ".join(DGEMM)

    def work(self, case: Case) -> int:
        """Return the multiply-adds of a case."""
        return case.M * case.N * case.K

    def trial(self, case: Case, seed: int = 0, *, finite: bool = False) -> ProductTrial:
        """Make the inputs of a case.

        A and B hold uniform numbers from -1 to 1. C holds NaN when beta is 0, because it must not be read then.

        Parameters
        ----------
        finite
            Put numbers into C even when beta is 0; tells a kernel that reads C from one that does not write it.
        """
        rng = np.random.default_rng([seed, case.M, case.N, case.K])
        A, B, C = (filled(rng, *stored_as(*shape, name in self.transposed), gap(case, name, self.boxes), self.dtype)
                   for name, shape in shapes(case).items())
        if self.stored == "bf16":
            A, B = (round_to(X, "bf16") for X in (A, B))
        if case.beta == 0 and not finite:
            C[:] = np.nan
        A.flags.writeable = B.flags.writeable = False      # a kernel that writes there is stopped
        return ProductTrial(case, A, B, C, C.copy(), self.transposed, self.stored, self.boxes)

    def judge(self, trial: ProductTrial) -> WrongProduct | str | None:
        """Return the first `WrongProduct` element, a sentence on a store where none belongs, or None."""
        A, B, before, C = trial.matrices()
        factors = {"alpha": trial.case.alpha, "beta": trial.case.beta}
        expected = accuracy.reference(A, B, before, **factors)
        share = accuracy.tolerance(trial.case.K, self.dtype, self.inputs, bool(self.stored))
        if self.dtype == "float64":
            share *= 2                         # the reference is a sum of float64, too, and may be off as far
        allowed = (share * accuracy.magnitude(A, B, before, **factors, inputs=self.inputs))
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(C.astype(np.float64) - expected) <= allowed)      # true for NaN
        if wrong.any():
            row, col = (int(i) for i in np.argwhere(wrong)[0])
            return WrongProduct(row, col, float(C[row, col]), float(expected[row, col]), float(allowed[row, col]), wrong)
        return _stray(trial)

    def guess(self, trial: ProductTrial, wrong: WrongProduct, tile: Tile, again: Again) -> str:
        """Say which mistake would give this result, or return "".

        Parameters
        ----------
        trial
            As the kernel left it.
        tile
            BM, BN, BK.
        again
            Runs the kernel on another trial of the same case and returns it, or None when that fails.
        """
        if stray := _stray(trial):
            return stray
        if np.isnan(trial.matrices()[3][wrong.mask]).any():
            return _guess_nan(self, trial, again)
        if self.dtype == "float64" and (near := nearly_right(trial, self.inputs)):
            return near                        # what follows knows mistakes by float32's precision
        return (too_few_bits(trial, self.inputs) or _known_mistake(trial, tile, self.inputs) or _displaced(trial, wrong)
                or nearly_right(trial, self.inputs) or _place(trial.case, wrong.mask, tile))


def _stray(trial: ProductTrial) -> str | None:
    """Return a sentence when the gaps between the rows of C are not as they were."""
    gaps = np.ones(len(trial.C), bool)
    trial.view("C", gaps)[...] = False
    touched = int(np.count_nonzero(~np.isnan(trial.C[gaps])))
    if touched:
        lines, count = ("columns", "M") if "C" in trial.transposed else ("rows", "N")
        return (f"{touched} element{'s' * (touched != 1)} between the {lines} of C overwritten: {lines} are ldc apart, "
                f"but only the first {count} elements of each belong to C")
    return None


def _close(got: np.ndarray, candidate: np.ndarray) -> bool:
    """Return whether a result is a candidate's at every element, rounding aside."""
    return bool(np.all(np.abs(got - candidate) <= 1e-4 * np.max(np.abs(candidate), initial=1e-30)))


def _known_mistake(trial: ProductTrial, tile: Tile, inputs: str = "") -> str:
    """Compare the result with those of well-known mistakes, made with the numbers that are multiplied."""
    A, B, before, C = trial.matrices()
    A, B = factors(A, B, inputs)
    for says, candidate in _candidates(A, B, np.nan_to_num(before.astype(np.float64)), trial.case, tile, trial.transposed, inputs):
        if _close(C, candidate):
            return says
    return ""


def _candidates(A: np.ndarray, B: np.ndarray, before: np.ndarray, case: Case, tile: Tile, transposed: str = "",
                inputs: str = "") -> Mistakes:
    """Yield (sentence, the result that this mistake gives)."""
    alpha, beta = case.alpha, case.beta
    product, rest = A @ B, beta * before
    yield "All of C is 0: see whether the loop runs, the sum is stored, and the tiles, if there are any, are filled", np.zeros_like(product)
    yield "alpha is not applied", product + rest
    yield "beta C is not added", alpha * product
    yield "alpha multiplies beta C too", alpha * (product + rest)
    yield "C is added once more, whatever beta is", alpha * product + rest + before
    if case.M == case.N == case.K:
        all_transposed = ", or all three matrices are taken as row-major" if set(transposed) == set("ABC") else ""
        yield f"It is B A instead of A B: the operands are swapped{all_transposed}", alpha * B @ A + rest
        yield "The product is transposed: row and col are exchanged where C is stored", alpha * product.T + rest
        a, b = "k * lda + row" if "A" in transposed else "row * lda + k", "col * ldb + k" if "B" in transposed else "k * ldb + col"
        yield _misread("A", "row, k", "M × K", a, transposed), alpha * A.T @ B + rest
        yield _misread("B", "k, col", "K × N", b, transposed), alpha * A @ B.T + rest
        yield (f"A and B are both read transposed: their elements (row, k) and (k, col) are A[{a}] and B[{b}]",
               alpha * A.T @ B.T + rest)
    yield "Only the last product of each sum is left: acc must be added to, +=", alpha * A[:, -1:] @ B[-1:] + rest
    yield from _partial_sums(A, B, rest, case, tile)
    BM, BN, BK = (tile.get(name, 0) for name in ("BM", "BN", "BK"))
    indices = "it is not read with the indices that it was filled with"
    fragment = "a fragment is row_major or col_major as the tile in shared memory is" if inputs else indices     # rounded: by tensor cores
    for rows, depth, cols, part, reason in ((BM, BK, BN, "tile", indices), (16, 16, 16, "16 × 16", fragment)):
        for name, left, right in (("A", _tiles_transposed(A, rows, depth), B), ("B", A, _tiles_transposed(B, depth, cols))):
            if left is not None and right is not None:
                yield f"Each {part} of {name} is used transposed: {reason}", alpha * left @ right + rest


def _tiles_transposed(matrix: np.ndarray, rows: int, cols: int) -> np.ndarray | None:
    """Return a matrix with each of its square tiles transposed, or None where there are no square, whole tiles."""
    height, width = matrix.shape
    if rows != cols or not rows or height % rows or width % cols:
        return None
    return matrix.reshape(height // rows, rows, width // cols, cols).swapaxes(1, 3).reshape(height, width)


def _misread(name: str, element: str, shape: str, index: str, transposed: str) -> str:
    """Say that a matrix is read the other way round, and how it is read right."""
    how = f"as if it were stored row by row, {shape}" if name in transposed else "transposed"
    return f"{name} is read {how}: its element ({element}) is {name}[{index}]"


def _partial_sums(A: np.ndarray, B: np.ndarray, rest: np.ndarray, case: Case, tile: Tile) -> Mistakes:
    """Yield the results of sums over K that end too early or begin too late."""
    BK, K = tile.get("BK", 1), case.K
    whole = K // BK * BK
    if whole != K:
        yield (f"The sum stops at k = {whole}: K = {K} is no multiple of BK = {BK}, and the last tile is missing",
               case.alpha * A[:, :whole] @ B[:whole] + rest)
    if K > BK:
        yield "Only the first tile along K is summed", case.alpha * A[:, :BK] @ B[:BK] + rest
        last = (K - 1) // BK * BK
        yield ("Only the last tile along K is summed: is acc set to 0 in the loop?",
               case.alpha * A[:, last:] @ B[last:] + rest)
        yield "The first tile along K is missing", case.alpha * A[:, BK:] @ B[BK:] + rest


def _displaced(trial: ProductTrial, wrong: WrongProduct) -> str:
    """Say when wrong elements hold what belongs elsewhere, all the same way off, or a multiple of what they should be."""
    A, B, before, C = (m.astype(np.float64) for m in trial.matrices())
    right = accuracy.reference(A, B, before, alpha=trial.case.alpha, beta=trial.case.beta)
    ratio = C[wrong.row, wrong.col] / right[wrong.row, wrong.col] if right[wrong.row, wrong.col] else 0
    if ratio and f"{ratio:.4g}" != "1" and _close(C[wrong.mask], ratio * right[wrong.mask]):
        return f"Each wrong element is {ratio:.4g} times what it should be"
    for row, col in np.argwhere(np.abs(right - C[wrong.row, wrong.col]) <= wrong.allowed):
        down, on = int(row) - wrong.row, int(col) - wrong.col
        here = np.argwhere(wrong.mask)
        there = here + (down, on)
        inside = ((there >= 0) & (there < right.shape)).all(axis=1)
        same = np.abs(C[tuple(here[inside].T)] - right[tuple(there[inside].T)]) <= wrong.allowed
        if (down, on) != (0, 0) and same.sum() * 2 > len(here):
            return f"C[{wrong.row}][{wrong.col}] holds what belongs to C[{row}][{col}], and most others are off the same way"
    return ""


def _guess_nan(operation: Sgemm, trial: ProductTrial, again: Again) -> str:
    """Tell the three ways to NaN apart: a C that is read, a C that is not written, a gap that is read."""
    if trial.case.beta:
        return _gap(trial) if trial.case.pad else ""
    other = again(operation.trial(trial.case, finite=True))
    if other is None:
        return ""
    A, B, before, C = (m.astype(np.float64) for m in other.matrices())
    if trial.case.pad and np.isnan(C).any():        # C held numbers, so this NaN was read
        return _gap(trial)
    untouched = np.equal(C, before)
    if untouched.any():
        row, col = (int(i) for i in np.argwhere(untouched)[0])
        return (f"C was filled with NaN beforehand, and {int(untouched.sum())} elements were never written, "
                f"C[{row}][{col}] first")
    if _close(C, trial.case.alpha * A @ B + before):
        return "The result is added to what C held before: with beta = 0 it must replace it"
    if operation.judge(other) is None:
        return "C was filled with NaN beforehand, and 0 × NaN is NaN: when beta is 0, C must not be read"
    return ""


def _gap(trial: ProductTrial) -> str:
    return _GAP_TRANSPOSED if trial.transposed else _GAP


def _place(case: Case, mask: np.ndarray, tile: Tile) -> str:
    """Say where the wrong elements are, when that tells something."""
    rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    BM, BN = tile.get("BM", 1), tile.get("BN", 1)
    if rows[0] >= case.M // BM * BM and case.M % BM:
        return f"Only rows from {rows[0]} on are wrong, in the partly filled last tile of M: look at its guards"
    if cols[0] >= case.N // BN * BN and case.N % BN:
        return f"Only columns from {cols[0]} on are wrong, in the partly filled last tile of N: look at its guards"
    if case.K % tile.get("BK", 1):
        return f"K = {case.K} leaves the last tile partly filled: elements beyond K must count as 0"
    if case.pad:
        return "Rows, or columns where these are stored, are padded: they begin lda, ldb, ldc elements apart, whatever their length"
    return ""
