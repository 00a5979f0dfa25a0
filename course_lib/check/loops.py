"""C = alpha A B + beta C by loops for the CPU: what a wrong result looks like there, in the words of A(i, k), B(k, j), C(i, j)."""

import numpy as np

from course_lib.check.case import Case
from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import ProductTrial
from course_lib.check.sgemm import Sgemm, WrongProduct, _close, _displaced

MOST_TERMS = 2**20          # that a guess looks at: some tenths of a second


class Loops(Sgemm):
    """The same product as `Sgemm`, of loops that add to a C which holds beta C already.

    A and B may be stored the other way round: `transposed` "A" is C = alpha A^T B + beta C, with A(k, i); "B" has B(j, k).
    """

    @property
    def elements(self) -> tuple[str, str]:
        """Return how the loops write the elements that they multiply: ("A(i, k)", "B(k, j)")."""
        return ("A(k, i)" if "A" in self.transposed else "A(i, k)"), ("B(j, k)" if "B" in self.transposed else "B(k, j)")

    def guess(self, trial: ProductTrial, wrong: WrongProduct, tile: Tile, again: Again) -> str:
        """Say which mistake would give this result, or return ""; the arguments as for `Sgemm.guess`."""
        A, B, before, C = (matrix.astype(np.float64) for matrix in trial.matrices())
        if np.isnan(C).any():
            return "There is NaN in C: is a variable used before it has a value?"
        start = trial.case.beta * before if trial.case.beta else np.zeros_like(C)
        for says, candidate in self._candidates(A, B, start, trial.case):
            if _close(C, candidate):
                return says
        return _times(trial.case.alpha * A, B, C - start) or _untouched(C, start, wrong) or _displaced(trial, wrong)

    def _candidates(self, A: np.ndarray, B: np.ndarray, start: np.ndarray, case: Case) -> Mistakes:
        """Yield (sentence, the result that this mistake gives)."""
        a, b = self.elements
        alpha, product = case.alpha, A @ B
        yield "Nothing was added to C: it is as the loops found it", start
        yield "alpha is not applied", product + start
        yield "alpha is applied twice", alpha * alpha * product + start
        yield "beta is applied twice: C holds beta C already when the loops begin", alpha * product + case.beta * start
        yield "What C held is lost: the loops must add to it, +=", alpha * product
        yield "Only the last product of each sum is left: the loops must add to C, +=", alpha * A[:, -1:] @ B[-1:]
        yield "Every product is added twice", 2 * alpha * product + start
        if case.M == case.N == case.K:
            yield "It is B A instead of A B: the operands are swapped", alpha * B @ A + start
            yield "The product is transposed: i and j are exchanged in C(i, j)", alpha * product.T + start
            yield f"The indices of A are exchanged: {a} is meant", alpha * A.T @ B + start
            yield f"The indices of B are exchanged: {b} is meant", alpha * A @ B.T + start
            yield "The indices of A and of B are exchanged", alpha * A.T @ B.T + start


def _times(A: np.ndarray, B: np.ndarray, added: np.ndarray) -> str:
    """Find how often the product of each k was added, when that is the same for all elements of C, and say where it is not once."""
    terms = (A.T[:, :, None] * B[:, None, :]).reshape(len(B), -1)
    if terms.size > MOST_TERMS or len(B) > terms.shape[1]:
        return ""
    times: np.ndarray = np.linalg.lstsq(terms.T, added.ravel(), rcond=None)[0]
    whole = np.round(times)
    if not np.abs(times - whole).max() < 1e-3 or not np.abs(terms.T @ whole - added.ravel()).max() < 1e-3:
        return ""
    k = np.flatnonzero(whole != 1)
    if not len(k):
        return ""
    if (whole[k] == 0).all() and len(k) == len(B) - k[0]:
        return f"The sums end at k = {k[0]}, and K is {len(B)}"
    if (whole[k] == 0).all() and len(k) == k[-1] + 1:
        return f"The sums begin at k = {len(k)}"
    more = f", and that of {len(k) - 1} other k is not added once either" if len(k) > 1 else ""
    return f"The product of k = {k[0]} is added {whole[k[0]]:.0f} times{more}"


def _untouched(C: np.ndarray, start: np.ndarray, wrong: WrongProduct) -> str:
    """Say from which row or column on nothing was added."""
    same = np.isclose(C, start, rtol=1e-6, atol=0) & wrong.mask
    for axis, name in ((1, "row"), (0, "column")):
        lines = np.flatnonzero(same.all(axis=axis))
        if len(lines) and (same == wrong.mask).all() and lines[-1] == len(C if axis else C[0]) - 1:
            return f"From {name} {lines[0]} on, nothing was added to C: do the loops end before the matrix does?"
    return ""
