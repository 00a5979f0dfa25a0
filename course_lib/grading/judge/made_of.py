"""Whether a result is made of what the gates count: the kernel runs again with something changed, and its result must change with it.

A counter alone says how often something happened, not that it served the result. A kernel could multiply zeros on tensor cores and the
matrices elsewhere. So the kernel's PTX is changed (`ptx_edits`), it runs once more on an input of the gates, and what it stores is
compared.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.check.operation import Tile
from course_lib.grading.judge import ptx_edits
from course_lib.run.traces import is_load

WARP = ((0, 0, 0), 0)
GROWN = 1.75                            # at least; of the median element, as a few terms may come from a register
ROUNDING = {4: 2e-5, 8: 1e-13}          # of a sum, as a share of the sum of the magnitudes of its terms; by bytes of an element
MOST_FED = 0.9                          # of the factors and terms that are looked at; what happens at edges may differ
FEWEST = 1 / 100                        # of C, that one matrix instruction of each warp adds to; a warp has registers for 64 such places
SIDE = 5                                # blocks along rows and columns, each of which loses one word
REAL = 0.75                             # of the blocks in which a lost word must be missed: half of the reads serving nothing gives 0.5


@dataclass(frozen=True)
class Again:
    """The launches of a kernel with changed PTX: `run` takes PTX, an input, warps to trace and what to change in a trial first,
    and returns the trial and its report.
    """

    run: Callable[..., tuple[Any, simt.Report]]
    ptx: str
    entry: str
    case: Any
    threads: int            # of a block
    tile: Tile
    seed: int

    def result(self, ptx: str) -> np.ndarray:
        """Return what the changed kernel stores, as float64."""
        return _stored(self.run(ptx, self.case)[0])


def _stored(trial):
    return (trial.matrices()[3] if hasattr(trial, "matrices") else trial.vectors()[2]).astype(np.float64)


def products_on_tensor_cores(again: Again) -> str:
    """Say what is wrong when C is not the sum of what the matrix instructions add."""
    left = again.result(ptx_edits.without_products(again.ptx))
    if left.any():
        return (f"{np.count_nonzero(left)} of the {left.size} elements of C come without the tensor cores: when every matrix instruction "
                "adds nothing, they must be 0. The products of C must be those of the matrix instructions, all of them")
    whole = again.result(again.ptx)
    changed = [again.result(ptx_edits.losing_products(again.ptx, again.entry, most=most, seed=again.seed)) for most in (1, 4)]
    for lost in changed:
        here = lost != whole
        if not here.any() or np.count_nonzero(here) < FEWEST * whole.size:
            return "C is the same when a matrix instruction adds nothing: its sums must be part of C"
        shares = lost[here] / np.where(whole[here] == 0, 1, whole[here])
        if np.std(shares) < 0.01 * abs(1 - np.mean(shares)):
            return "When one matrix instruction adds nothing, C shrinks as a whole: the sums of the instructions must be terms of C"
    return ""


def copied(again: Again) -> str:
    """Say what is wrong when C is made of more than what asynchronous copies bring."""
    left = again.result(ptx_edits.without_copies(again.ptx))
    return (f"{np.count_nonzero(left)} of the {left.size} elements of C come without the asynchronous copies: when these bring zeros, "
            "C must be 0. Multiply what the copies bring, nothing else") if left.any() else ""


def grows_with_shared(again: Again) -> str:
    """Say what is wrong when C does not grow with what is read from shared memory.

    With each value there doubled, C = alpha A B becomes four times as large when both operands come from there, and twice with one.
    """
    whole, doubled = again.result(again.ptx), again.result(ptx_edits.doubling_words(again.ptx, again.entry))
    with np.errstate(invalid="ignore"):
        growth = float(np.median(np.abs(doubled[whole != 0] / whole[whole != 0])))
    return (f"The kernel loads from shared memory what its result does not need: when each value is doubled that such a load delivers, "
            f"C should grow to its double or more, and grows {growth:.3g} times. Multiply what comes from the tiles in shared "
            "memory") if growth < GROWN else ""


def through_shared(factors: int) -> Callable[[Again], str]:
    """Return how to tell whether each product of C has this many factors that were read from shared memory, word by word.

    Each thread loses one word that it reads, drawn from all. A word is an element of A or B, so an element of C must miss one product with
    it. How many elements miss one tells how many factors come this way, however often a thread reads a word.
    """
    def problem(again: Again) -> str:
        plain, report = again.run(again.ptx, again.case, trace=(WARP,))
        words = _words_read(report, plain)
        if not words:
            return "The traced warp reads no shared memory: bring the tiles there, and read the factors of the products from there"
        whole, lost = _stored(plain), again.result(ptx_edits.losing_words(again.ptx, again.entry, most=int(words), seed=again.seed))
        missed, terms = _missed(plain, lost - whole)
        found = missed * words / whole.size / plain.case.K
        if terms < MOST_FED * missed or found < MOST_FED * factors:
            wanted = "one such factor" if factors == 1 else "both its factors from there"
            return ("A word that a thread reads from shared memory must be an element of A or B that it multiplies, and each product "
                    f"needs {wanted}. With one word of each thread read as 0, {missed} elements of C changed, "
                    f"{terms} of them by one product; that makes {found:.2f} factors per product")
        return ""

    return problem


def from_shared(again: Again) -> str:
    """Say what is wrong when the result does not pass through shared memory."""
    left = again.result(ptx_edits.without_shared_words(again.ptx, again.entry))
    return (f"{np.count_nonzero(left)} of {left.size} results come without shared memory: when all that is read from there is 0, they must "
            "be 0. What is not counted here (shuffles, for instance) must not take the place of shared memory") if left.any() else ""


def reads_are_used(again: Again) -> str:
    """Say what is wrong when words that are read from shared memory serve nothing: in each of many blocks one thread loses one read."""
    rows, cols = again.tile["BM"], again.tile["BN"]
    many = replace(again.case, M=SIDE * rows, N=SIDE * cols)
    plain, report = again.run(again.ptx, many, trace=(WARP,))
    edited = ptx_edits.losing_a_read(again.ptx, again.entry, most=len(_reads(report)), seed=again.seed, threads=again.threads)
    here = _stored(again.run(edited, many)[0]) != _stored(plain)
    blocks = here.reshape(here.shape[0] // rows, rows, -1, cols).any(axis=(1, 3))
    if blocks.mean() < REAL:
        return (f"Of {blocks.size} reads of shared memory, {blocks.size - np.count_nonzero(blocks)} leave C as it is when they are "
                "give 0. Reads that serve nothing are no work: what is counted must be the reads of the products")
    return ""


def _reads(report):
    return [record for record in report.trace if record.space == "shared" and is_load(record)]


def _words_read(report, trial):
    """Return the words of shared memory that a thread of the traced warp reads; of float64 a word has 8 bytes."""
    lanes = sum(int((record.addresses >= 0).sum()) * record.width for record in _reads(report))
    return lanes / 32 / trial.C.itemsize


def _missed(trial, change):
    """Return how many elements of C changed, and how many of these by one product."""
    A, B, _, _ = (matrix.astype(np.float64) for matrix in trial.matrices())
    rows, cols = np.nonzero(change)
    terms = trial.case.alpha * A[rows] * B[:, cols].T
    allowed = ROUNDING[trial.C.itemsize] * np.abs(terms).sum(axis=1)
    return len(rows), int((np.abs(change[rows, cols, None] + terms).min(axis=1, initial=np.inf) <= allowed).sum())
