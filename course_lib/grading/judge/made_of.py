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
from course_lib.kernels.kernel import ceil_div
from course_lib.run.traces import is_load
from course_lib.simt.report import TraceRecord

ROUNDING = {4: 2e-5, 8: 1e-13}          # of a sum, as a share of the sum of the magnitudes of its terms; by bytes of an element
MOST_FED = 0.9                          # of the factors and terms that are looked at; what happens at edges may differ
FEWEST = 1 / 100                        # of C, that one matrix instruction of each warp adds to; a warp has registers for 64 such places
SIDE = 5                                # blocks along rows and columns, each of which loses one word
CLOSE = 1e-4                            # of results of vectors, which are a few at most
SMALL = 0.02                            # of a product: more than its parts for which a split has instructions of their own
MOST_GONE = 0.5                         # of all products, with one matrix instruction of each warp
LOOKED_AT = 5_000                       # changed elements of C whose products are tried
VISIBLE = 1e-4                          # of the largest element of C: what a read must add; rounding explains less
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

    def reads(self, case: Any) -> tuple[Any, dict[int, list[TraceRecord]]]:
        """Return a trial, and what each warp of the first block that does reads from shared memory."""
        trial, report = self.run(self.ptx, case, trace=tuple(((0, 0, 0), warp) for warp in range(ceil_div(self.threads, 32))))
        found: dict[int, list[TraceRecord]] = {}
        for record in report.trace:
            if record.space == "shared" and is_load(record):
                found.setdefault(record.warp, []).append(record)
        return trial, found


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
    return _of_single_products(again)


def _of_single_products(again):
    """Say what is wrong when C is not a sum of matrix instructions: where rows of A have one element each, C has one product each.

    Without one matrix instruction of each warp an element of C is gone with its product, or as it was; but for a small part of it, where
    the product is made of parts.
    """
    def change(trial):
        A, rows = trial.A.copy(), np.arange(trial.case.M)
        matrix, cols = trial.view("A", A), np.random.default_rng(again.seed).integers(0, trial.case.K, len(rows))
        alone = matrix[rows, cols]
        matrix[...] = 0
        matrix[rows, cols] = alone
        A.flags.writeable = False
        return replace(trial, A=A)

    losing = ptx_edits.losing_products(again.ptx, again.entry, most=4, seed=again.seed)
    whole, lost = (_stored(again.run(text, again.case, change=change)[0]) for text in (again.ptx, losing))
    left = lost / np.where(whole == 0, np.nan, whole)
    gone, same = np.abs(left) < SMALL, np.abs(left - 1) < SMALL
    if (gone | same | (whole == 0)).mean() < MOST_FED or gone.mean() > MOST_GONE:
        return ("When one matrix instruction adds nothing, C must lose the products of that instruction and nothing else: the sums of the "
                "instructions must be terms of C")
    return ""


def copied(again: Again) -> str:
    """Say what is wrong when C is made of more than what asynchronous copies bring."""
    left = again.result(ptx_edits.without_copies(again.ptx))
    return (f"{np.count_nonzero(left)} of the {left.size} elements of C come without the asynchronous copies: when these bring zeros, "
            "C must be 0. Multiply what the copies bring, nothing else") if left.any() else ""


def through_shared(factors: int) -> Callable[[Again], str]:
    """Return how to tell whether each product of C has this many factors that were read from shared memory, word by word.

    Each thread loses one word that it reads, drawn from all. A word is an element of A or B, so an element of C must miss one product with
    it. How many elements miss one tells how many factors come this way, however often a thread reads a word.
    """
    def problem(again: Again) -> str:
        plain, reads = again.reads(again.case)
        if not reads:
            return "The first block reads no shared memory: bring the tiles there, and read the factors of the products from there"
        words = _most_words(reads, plain.C.itemsize)
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


def vectors_through_shared(again: Again) -> str:
    """Say what is wrong when neither the vectors nor the results of y = A x go through shared memory, word by word.

    Each thread reads one word, drawn from all, that is larger by 1. A result that goes this way becomes larger by 1, and one that has a
    component of x from there, by an element of A. How many do tells how much goes this way.
    """
    plain, reads = again.reads(again.case)
    words = _most_words(reads, plain.target.itemsize) if reads else 1.0
    larger = ptx_edits.losing_words(again.ptx, again.entry, most=int(words), seed=again.seed, instead="add.f32 {name}, {name}, 0f3F800000;")
    change = again.result(larger) - _stored(plain)
    by_one = np.abs(change - 1) < CLOSE
    by_element = (np.abs(change[:, :, None] - plain.matrix).min(axis=2) < CLOSE) & ~by_one & (np.abs(change) > CLOSE)
    changed, results, components = (int(np.count_nonzero(found)) for found in (np.abs(change) > CLOSE, by_one, by_element))
    share = max(results, components / len(plain.matrix)) * words / change.size
    if share < REAL or results + components < MOST_FED * changed:
        return ("What a thread reads from shared memory must be a component of a vector, or of a result. With 1 added to one word of each "
                f"thread, {changed} results changed, {results} of them by 1 and {components} by an element of the matrix")
    return ""


def reads_are_used(again: Again) -> str:
    """Say what is wrong when words that are read from shared memory serve nothing: in each of many blocks one thread loses one read."""
    rows, cols = again.tile["BM"], again.tile["BN"]
    many = replace(again.case, M=SIDE * rows, N=SIDE * cols)
    trial, reads = again.reads(many)
    if not reads:
        return "The first block reads no shared memory: bring the tiles there, and multiply what is read from there"
    edited = ptx_edits.losing_a_read(again.ptx, again.entry, reads={warp: len(found) for warp, found in reads.items()}, seed=again.seed)
    whole, lost = _stored(trial), _stored(again.run(edited, many)[0])
    here = ~(np.abs(lost - whole) <= VISIBLE * np.abs(whole).max())
    products = np.zeros(here.shape, bool)
    products[here] = _missing(trial, np.argwhere(here), (lost - whole)[here], together=(1, 2, 4))
    changed, missing = (found.reshape(SIDE, rows, SIDE, cols).sum(axis=(1, 3)) for found in (here, products))
    used = (changed > 0) & (missing >= MOST_FED * changed)
    if used.mean() < REAL:
        return (f"Of {used.size} reads of shared memory, {used.size - np.count_nonzero(used)} leave C as it is when they give 0, or change "
                "it by what is no product. Reads that serve nothing are no work: what is counted must be the reads of the products")
    return ""


def _most_words(reads, itemsize):
    """Return the words of shared memory that a thread reads in the warp that reads most; of float64 a word has 8 bytes."""
    return max(sum(int((record.addresses >= 0).sum()) * record.width for record in found) for found in reads.values()) / 32 / itemsize


def _missed(trial, change):
    """Return how many elements of C changed, and how many of these by one product, estimated where there are many."""
    places = np.argwhere(change)
    some = places[::-(-len(places) // LOOKED_AT) or 1]
    one = _missing(trial, some, change[tuple(some.T)])
    return len(places), round(int(one.sum()) * len(places) / max(len(some), 1))


def _missing(trial, places, change, together=(1,)):
    """Tell which elements of C lack one of their products, or so many neighbouring ones `together` as one read brings."""
    A, B, _, _ = (matrix.astype(np.float64) for matrix in trial.matrices())
    rows, cols = places.T
    terms = trial.case.alpha * A[rows] * B[:, cols].T
    allowed = ROUNDING[trial.C.itemsize] * np.abs(terms).sum(axis=1)
    sums = [np.add.reduceat(terms, range(0, terms.shape[1], count), axis=1) for count in together]
    return np.any([np.abs(change[:, None] + each).min(axis=1, initial=np.inf) <= allowed for each in sums], axis=0)


FACTORS_FROM_SHARED = (through_shared(1), reads_are_used)
"""What holds where operands are staged in shared memory: at least one of them comes from there, and what is read serves products."""
