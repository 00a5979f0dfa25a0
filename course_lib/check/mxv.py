"""One matrix times many vectors as something to check: inputs, which results are right, what a wrong one looks like."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.transpose import PER, UNTOUCHED, WrongElement
from course_lib.kernels.kernel import ceil_div
from course_lib.run import accuracy
from course_lib.run.types import Argument, Extent

SIZE = 16                # components of a vector, and of a result: the matrix is 16 × 16


@dataclass(frozen=True)
class VectorsCase:
    """One input: how many vectors there are.

    >>> print(VectorsCase("a warp and one", 33))
    33 vectors
    """

    name: str
    S: int

    def __str__(self):
        return f"{self.S} vector{'s' * (self.S != 1)}"


def all_cases(tile: Tile) -> tuple[VectorsCase, ...]:
    """Return the inputs from plain to hard: whole blocks of THREADS vectors, then those that leave the last one partly filled."""
    threads = tile["THREADS"]
    return (
        VectorsCase("whole blocks", 2 * threads),
        VectorsCase("one block", threads),
        VectorsCase("one vector more than a block", threads + 1),
        VectorsCase("one vector less than a block", threads - 1 or 1),
        VectorsCase("a single vector", 1),
        VectorsCase("one vector less than a warp", 31),
        VectorsCase("one vector more than a warp", 33),
        VectorsCase("several hundred, a prime", 389),
    )


def gate_case(tile: Tile) -> VectorsCase:
    """Return the input for counters: two whole blocks."""
    return VectorsCase("counters", 2 * tile["THREADS"])


def drawn(tile: Tile, rng: np.random.Generator) -> tuple[VectorsCase, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    return tuple(VectorsCase(f"drawn input {number}", int(rng.integers(1, 3 * tile["THREADS"] + 2))) for number in (1, 2, 3))


def vector_grid(case: VectorsCase, tile: Tile) -> Extent:
    """Return the blocks that cover the vectors with one thread for each."""
    return (ceil_div(case.S, tile["THREADS"]), 1, 1)


@dataclass(frozen=True)
class VectorsTrial:
    """One launch's arrays as the device sees them: flat, the results full of NaN, the matrix for the variable `matrix`."""

    case: VectorsCase
    matrix: np.ndarray
    source: np.ndarray
    target: np.ndarray
    before: np.ndarray = field(repr=False)      # the target as it was
    by_component: str = ""

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        return np.int32(self.case.S), self.source, self.target

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Values for the kernel's `__constant__` variables."""
        return {"matrix": self.matrix}

    def vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the vectors, the results before the launch and the results now, each with a row for every vector."""
        return self.view("in", self.source), self.view("out", self.before), self.view("out", self.target)

    def view(self, name: str, flat: np.ndarray, other: bool = False) -> np.ndarray:
        """Return a flat array as vectors, as it is stored, or read in the `other` layout."""
        return flat.reshape(SIZE, -1).T if (name in self.by_component.split()) != other else flat.reshape(-1, SIZE)


@dataclass(frozen=True)
class Mxv:
    """out[h] = matrix · in[h] for S vectors of 16 floats, the matrix in constant memory.

    `by_component` names what is not stored vector after vector, but component after component: "in", "out", or both with a space between.
    """

    by_component: str = ""
    signature = "int S, const float* in, float* out"

    def work(self, case: VectorsCase) -> float:
        """Return how often 32 components are loaded; as many are stored."""
        moved = case.S * SIZE
        return moved // PER if moved % PER == 0 else moved / PER

    def trial(self, case: VectorsCase, seed: int = 0, *, finite: bool = False) -> VectorsTrial:
        """Make the inputs of a case: uniform numbers from -1 to 1; the target is full of NaN.

        Parameters
        ----------
        finite
            Put numbers into the target; tells a kernel that reads it from one that does not write it.
        """
        rng = np.random.default_rng([seed, case.S])
        matrix = rng.uniform(-1, 1, (SIZE, SIZE)).astype(np.float32)
        source, target = (rng.uniform(-1, 1, case.S * SIZE).astype(np.float32) for _ in range(2))
        if not finite:
            target.view(np.uint32)[:] = UNTOUCHED
        matrix.flags.writeable = source.flags.writeable = False      # a kernel that writes there is stopped
        return VectorsTrial(case, matrix, source, target, target.copy(), self.by_component)

    def judge(self, trial: VectorsTrial) -> WrongElement | None:
        """Return the first `WrongElement` component, or None."""
        vectors, _, got = trial.vectors()
        expected, allowed = _right(trial)
        with np.errstate(invalid="ignore", over="ignore"):
            wrong = ~(np.abs(got.astype(np.float64) - expected) <= allowed)      # true for NaN
        if not wrong.any():
            return None
        row, col = (int(i) for i in np.argwhere(wrong)[0])
        return WrongElement("out", row, col, float(got[row, col]), float(expected[row, col]), wrong)

    def guess(self, trial: VectorsTrial, wrong: WrongElement, tile: Tile, again: Again) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `course_lib.check.sgemm`, the tile has THREADS."""
        if np.isnan(trial.vectors()[2][wrong.mask]).any():
            return self._of_nan(trial, tile, again)
        return _known(trial) or _moved(trial, wrong) or _place(trial.case, wrong.mask, tile)

    def _of_nan(self, trial: VectorsTrial, tile: Tile, again: Again) -> str:
        """Tell results that nobody wrote from those that were made of what stood there, by a launch with numbers there."""
        other = again(self.trial(trial.case, finite=True))
        if other is None:
            return ""
        vectors, before, got = (x.astype(np.float64) for x in other.vectors())
        untouched = got == before
        if untouched.any():
            row, col = (int(i) for i in np.argwhere(untouched)[0])
            return (f"out was filled with NaN beforehand, and {int(untouched.sum())} of its elements were never written, "
                    f"out[{row}][{col}] first. {_place(trial.case, untouched, tile)}").strip()
        matrix = other.matrix.astype(np.float64)
        if _close(got, vectors @ matrix.T + before):
            return "The result is added to what stood in out before: it must replace it, and a sum begins with 0"
        if _close(got, before @ matrix.T):
            return "in and out are exchanged: the vectors are taken from out, where the results belong"
        if np.isnan(got).any():
            return ""
        return "out was filled with NaN beforehand, and a result is made of what stood there: out is only written"


def _right(trial: VectorsTrial) -> tuple[np.ndarray, np.ndarray]:
    """Return the right results in float64, and how far rounding may be off."""
    vectors, matrix = trial.vectors()[0], trial.matrix.T
    return accuracy.reference(vectors, matrix), accuracy.limit(vectors) * accuracy.magnitude(vectors, matrix)


def _close(got: np.ndarray, candidate: np.ndarray) -> bool:
    """Return whether results are a candidate's at every element, rounding aside."""
    return got.shape == candidate.shape and bool(np.all(np.abs(got - candidate) <= 1e-5))


def _known(trial: VectorsTrial) -> str:
    """Compare the results with those of well-known mistakes."""
    got = trial.vectors()[2].astype(np.float64)
    return next((says for says, candidate in _mistakes(trial) if _close(got, candidate)), "")


def _mistakes(trial: VectorsTrial) -> Mistakes:
    """Yield (sentence, the results that this mistake gives)."""
    source, matrix = trial.source.astype(np.float64), trial.matrix.astype(np.float64)
    vectors, other = trial.view("in", source), trial.view("in", source, other=True)
    yield "All of out is 0: is the sum stored, and is shared memory filled?", np.zeros_like(vectors)
    yield "out holds the vectors as they were: they are not multiplied by the matrix", vectors
    yield "The matrix is used transposed: component r of a result is the sum over c of matrix[r][c] * x[c]", vectors @ matrix
    taken, stored = _layout("in", trial), _layout("out", trial)
    yield f"The vectors are taken in the other layout: component c of vector h is {taken}", other @ matrix.T
    yield f"The results are stored in the other layout: component r of result h is {stored}", _stored_otherwise(trial, vectors @ matrix.T)
    yield (f"Vectors and results are both in the other layout: components are {taken} and {stored}",
           _stored_otherwise(trial, other @ matrix.T))
    yield "Only the last product of each sum is left: add to it, +=", vectors[:, -1:] @ matrix[:, -1:].T
    for n in range(1, SIZE):
        yield f"Only the first {n} of the {SIZE} components are summed", vectors[:, :n] @ matrix[:, :n].T
        yield (f"The first {n} of the {SIZE} components are missing: does the sum begin anew with each chunk?",
               vectors[:, n:] @ matrix[:, n:].T)


def _layout(name: str, trial: VectorsTrial) -> str:
    """Return where an element lies, in the words of the kernel."""
    size, index = ("N", "c") if name == "in" else ("M", "r")
    return f"{name}[{index} * S + h]" if name in trial.by_component.split() else f"{name}[h * {size} + {index}]"


def _stored_otherwise(trial: VectorsTrial, results: np.ndarray) -> np.ndarray:
    """Return what out seems to hold when the results are stored in the other layout."""
    flat = np.empty(results.size)
    trial.view("out", flat, other=True)[...] = results
    return trial.view("out", flat)


def _moved(trial: VectorsTrial, wrong: WrongElement) -> str:
    """Say whose result the first wrong vector holds, or that it holds its own in another order."""
    right, got = _right(trial)[0], trial.vectors()[2].astype(np.float64)
    h, r = wrong.row, wrong.col
    others = np.flatnonzero(np.all(np.abs(right - got[h]) <= 1e-5, axis=1))
    if len(others):
        return f"out[{h}] holds the result of vector {others[0]}"
    if np.all(np.abs(np.sort(right[h]) - np.sort(got[h])) <= 1e-5):
        place = int(np.argmin(np.abs(right[h] - got[h, r])))
        return f"out[{h}] has its components in another order: out[{h}][{r}] holds what belongs to out[{h}][{place}]"
    return ""


def _place(case: VectorsCase, mask: np.ndarray, tile: Tile) -> str:
    """Say where the wrong elements are, when that tells something."""
    first, threads = int(np.flatnonzero(mask.any(axis=1))[0]), tile["THREADS"]
    if case.S % threads and first >= case.S // threads * threads > 0:
        return f"Only vectors from {first} on are concerned, in the partly filled last block of S = {case.S}: look at its guards"
    return ""
