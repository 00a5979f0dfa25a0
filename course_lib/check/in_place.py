"""A square matrix that is changed where it lies, as something to check: transposed, or made symmetric as (A + Aᵀ) / 2."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import viewed
from course_lib.check.transpose import Sheet, WrongElement, _flat, _place, gate_case, pieces
from course_lib.run.types import Argument

__all__ = ["InPlace", "all_cases", "drawn", "gate_case"]
SIGNATURE = "int n, float* A, int lda"


def all_cases(tile: Tile) -> tuple[Sheet, ...]:
    """Return the inputs from plain to hard: whole tiles of TILE × TILE, then those that leave tiles partly filled."""
    size = tile["TILE"]
    found = (("2 × 2 tiles", 2 * size, 0), ("a single tile", size, 0), ("3 × 3 tiles", 3 * size, 0), ("rows that are longer", 2 * size, 5),
             ("one more than a tile", size + 1, 0), ("one less than a tile", size - 1 or 1, 0), ("a single element", 1, 0),
             ("a prime, rows that are longer", 71, 3))
    return tuple(Sheet(name, n, n, pad=pad) for name, n, pad in found)


def drawn(tile: Tile, rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    sizes = [(int(rng.integers(1, 3 * tile["TILE"] + 2)), int(rng.integers(0, 7))) for _ in range(3)]
    return tuple(Sheet(f"drawn input {number}", n, n, pad=pad) for number, (n, pad) in enumerate(sizes, 1))


@dataclass(frozen=True)
class InPlaceTrial:
    """One launch's matrix as the device sees it: flat, with NaN between the rows; and as it was before."""

    case: Sheet
    A: np.ndarray
    before: np.ndarray = field(repr=False)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        return np.int32(self.case.rows), self.A, np.int32(self.case.cols + self.case.pad)

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrix before the launch and now."""
        before, now = (viewed(array, self.case.rows, self.case.cols, self.case.pad) for array in (self.before, self.A))
        return before, now

    def in_float64(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `matrices` in float64."""
        with np.errstate(invalid="ignore"):                # whatever was in the memory that a wrong kernel read
            before, now = self.matrices()
            return before.astype(np.float64), now.astype(np.float64)


@dataclass(frozen=True)
class InPlace:
    """A ← Aᵀ, or A ← (A + Aᵀ) / 2 with `averages`; float32, square, rows lda elements apart."""

    averages: bool = False
    signature = SIGNATURE

    def work(self, case: Sheet) -> float:
        """Return how many times 32 elements there are."""
        return pieces(case)

    def trial(self, case: Sheet, seed: int = 0) -> InPlaceTrial:
        """Make the input of a case: uniform numbers from -1 to 1, no two alike."""
        A = _flat(np.random.default_rng([seed, case.rows, case.cols]), case.rows, case.cols, case.pad)
        return InPlaceTrial(case, A, A.copy())

    def judge(self, trial: InPlaceTrial) -> WrongElement | str | None:
        """Return the first `WrongElement` element, a sentence on a store where none belongs, or None."""
        before, now = trial.in_float64()
        expected = self._right(before)
        allowed = 2.0**-23 * (np.abs(before) + np.abs(before.T)) if self.averages else np.zeros((1, 1))
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(now - expected) <= allowed)           # true for NaN
        if wrong.any():
            row, col = (int(i) for i in np.argwhere(wrong)[0])
            return WrongElement("A", row, col, float(now[row, col]), float(expected[row, col]), wrong)
        gaps = np.ones(len(trial.A), bool)
        viewed(gaps, trial.case.rows, trial.case.cols, trial.case.pad)[...] = False
        touched = int(np.count_nonzero(trial.A.view(np.uint32)[gaps] != trial.before.view(np.uint32)[gaps]))
        stray = f"{touched} elements between the rows of A overwritten: only the first n elements of each row belong to A"
        return stray if touched else None

    def guess(self, trial: InPlaceTrial, wrong: WrongElement, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `course_lib.check.sgemm`."""
        before, now = trial.in_float64()
        if np.isnan(now[wrong.mask]).any():
            return "NaN stands between the rows, so an element there was read: rows begin lda elements apart"
        for says, candidate in self._mistakes(before, tile["TILE"]):
            if np.all(np.abs(candidate - now) <= 1e-6):
                return says
        return self._halves(before, now) or _place(trial.case, wrong.mask, tile, "A")

    def _right(self, before: np.ndarray) -> np.ndarray:
        return (before + before.T) / 2 if self.averages else before.T

    def _halves(self, before: np.ndarray, now: np.ndarray) -> str:
        """Say that one side of the diagonal is right and the other is not."""
        right = np.abs(now - self._right(before)) <= 1e-6
        low = np.tril_indices(len(now), -1)
        sides = [bool(right[low].all()), bool(right.T[low].all())]
        if sum(sides) != 1:
            return ""
        good, bad = ("below", "above") if sides[0] else ("above", "below")
        return (f"What lies {good} the diagonal is right, what lies {bad} is not: its tiles were not written, or they were read after "
                "their partners had been overwritten. Bring both tiles of a pair into shared memory before writing either")

    def _mistakes(self, before: np.ndarray, size: int) -> Mistakes:
        """Yield (sentence, the result that this mistake gives)."""
        yield "Nothing has changed: all elements are where they were", before
        if self.averages:
            yield "It is transposed, but not averaged with what was there", before.T
            yield "The sum is not halved", before + before.T
        elif len(before) % size == 0:
            count = len(before) // size
            tiles = before.reshape(count, size, count, size)
            own = np.kron(np.eye(count, dtype=bool), np.ones((size, size), bool))
            yield ("Only the tiles on the diagonal have changed: either nobody moves the others, or two blocks swap each pair, and the "
                   "second swaps it back", np.where(own, before.T, before))
            yield ("Each tile is transposed, but stays where it was: tiles (x, y) and (y, x) have to change places",
                   tiles.transpose(0, 3, 2, 1).reshape(before.shape))
            yield ("The tiles have changed places, but none is transposed inside: what was read along a row of it must be written along a "
                   "column", tiles.transpose(2, 1, 0, 3).reshape(before.shape))
