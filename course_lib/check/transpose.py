"""Transposition as something to check, alone or as C = alpha Aᵀ + B: inputs, which results are right, what a wrong one looks like."""

import itertools
from dataclasses import dataclass, field, replace

import numpy as np

UNTOUCHED = np.uint32(0x7FC12345)       # a NaN of its own: the target is full of it, and what still holds it was never written
PLAIN = "int rows, int cols, const float* in, int ld_in, float* out, int ld_out"
ADDING = "int rows, int cols, float alpha, const float* A, int lda, const float* B, int ldb, float* C, int ldc"
ALPHAS = (1.0, 1.5, -2.0, 0.25)         # 1 where a result shall show what else is wrong
PER = 32                                # gates count what 32 elements cost: as many as a warp moves at once


@dataclass(frozen=True)
class Sheet:
    """One input: rows and columns of what is turned, alpha, and by how many elements each row is longer than it needs to be.

    >>> print(Sheet("wide", 32, 96, pad=5))
    32 rows, 96 columns, padded
    """

    name: str
    rows: int
    cols: int
    alpha: float = 1.0
    pad: int = 0

    def __str__(self):
        sizes = f"{self.rows} row{'s' * (self.rows != 1)}, {self.cols} column{'s' * (self.cols != 1)}"
        return f"{sizes}{f', alpha={self.alpha:g}' if self.alpha != 1 else ''}{', padded' if self.pad else ''}"


def all_cases(tile):
    """Return the inputs from plain to hard: whole tiles of TILE × TILE, then those that leave tiles partly filled."""
    size = tile["TILE"]
    return (
        Sheet("square, whole tiles", 2 * size, 2 * size),       # where a copy and a slip with the blocks show for what they are
        Sheet("wide, whole tiles", size, 3 * size),
        Sheet("tall, whole tiles", 3 * size, size),
        Sheet("padded rows", 2 * size, size, pad=5),
        Sheet("a column more than a tile", size, size + 1),
        Sheet("a row more than a tile", size + 1, size),
        Sheet("one less than a tile", size - 1 or 1, size - 1 or 1),
        Sheet("a single element", 1, 1),
        Sheet("a single row", 1, 37, pad=1),
        Sheet("a single column", 41, 1),
        Sheet("primes, padded", 37, 101, pad=3),
    )


def adding_cases(tile):
    """Return the same inputs for C = alpha Aᵀ + B, most with an alpha that changes something."""
    return tuple(replace(case, alpha=alpha) for case, alpha in zip(all_cases(tile), itertools.cycle(ALPHAS), strict=False))


def gate_case(tile):
    """Return the input for counters: 2 × 2 tiles, so that shared memory of 4 blocks serves all of its elements."""
    return Sheet("counters", 2 * tile["TILE"], 2 * tile["TILE"])


def drawn(tile, rng):
    """Return three inputs of sizes that only the generator's seed knows."""
    return tuple(Sheet(f"drawn input {number}", *(int(n) for n in rng.integers(1, 3 * tile["TILE"] + 2, 2)), pad=int(rng.integers(0, 7)))
                 for number in (1, 2, 3))


def adding_drawn(tile, rng):
    """Return three such inputs with an alpha."""
    return tuple(replace(case, alpha=float(np.float32(rng.uniform(-2, 2)))) for case in drawn(tile, rng))


def tile_grid(case, tile):
    """Return the blocks that cover the input with tiles of TILE × TILE."""
    return (-(-case.cols // tile["TILE"]), -(-case.rows // tile["TILE"]), 1)


@dataclass(frozen=True)
class Trial:
    """One launch's arrays as the device sees them: flat, rows apart by more than their length where the input says so.

    `source` is rows × cols, `added` (B, or None) and `target` are cols × rows. NaN stands between the rows.
    """

    case: Sheet
    source: np.ndarray
    added: np.ndarray | None
    target: np.ndarray = field(repr=False)

    @property
    def args(self):
        """The kernel's arguments in order."""
        case = self.case
        here, there = np.int32(case.cols + case.pad), np.int32(case.rows + case.pad)
        sizes = (np.int32(case.rows), np.int32(case.cols))
        if self.added is None:
            return (*sizes, self.source, here, self.target, there)
        return (*sizes, np.float32(case.alpha), self.source, here, self.added, there, self.target, there)

    def matrices(self):
        """Return source, B (zeros where there is none) and target as matrices."""
        case = self.case
        turned = (case.cols, case.rows, case.pad)
        added = np.zeros(turned[:2], np.float32) if self.added is None else _view(self.added, *turned)
        return _view(self.source, case.rows, case.cols, case.pad), added, _view(self.target, *turned)


@dataclass(frozen=True)
class Wrong:
    """A wrong result: the first wrong element in reading order, and a mask of all."""

    name: str                # of the target
    row: int
    col: int
    got: float
    expected: float
    mask: np.ndarray = field(repr=False)

    def __str__(self):
        return (f"{int(self.mask.sum())} of {self.mask.size} elements of {self.name} are wrong; the first is "
                f"{self.name}[{self.row}][{self.col}]: {self.got:.6g} instead of {self.expected:.6g}")


@dataclass(frozen=True)
class Transpose:
    """out = inᵀ, or, when something is added, C = alpha Aᵀ + B; float32, each with its own distance from row to row."""

    adds: bool = False

    @property
    def signature(self):
        """The kernel's arguments."""
        return ADDING if self.adds else PLAIN

    @property
    def names(self):
        """What source and target are called."""
        return ("A", "C") if self.adds else ("in", "out")

    def work(self, case):
        """Return how often 32 elements are moved."""
        moved = case.rows * case.cols
        return moved // PER if moved % PER == 0 else moved / PER

    def trial(self, case, seed=0):
        """Make the inputs of a case: uniform numbers from -1 to 1, no two alike; the target is full of NaN."""
        rng = np.random.default_rng([seed, case.rows, case.cols])
        source = _flat(rng, case.rows, case.cols, case.pad)
        added = _flat(rng, case.cols, case.rows, case.pad) if self.adds else None
        target = np.empty((case.cols - 1) * (case.rows + case.pad) + case.rows, np.float32)
        target.view(np.uint32)[:] = UNTOUCHED
        for array in (source, added):
            if array is not None:
                array.flags.writeable = False      # a kernel that writes there is stopped
        return Trial(case, source, added, target)

    def judge(self, trial):
        """Return the first `Wrong` element, a sentence on a store where none belongs, or None."""
        expected, allowed = self._right(trial)
        target = trial.matrices()[2]
        with np.errstate(invalid="ignore", over="ignore"):
            wrong = ~(np.abs(target.astype(np.float64) - expected) <= allowed)      # true for NaN
        if wrong.any():
            row, col = (int(i) for i in np.argwhere(wrong)[0])
            return Wrong(self.names[1], row, col, float(target[row, col]), float(expected[row, col]), wrong)
        return _stray(trial, self.names[1])

    def guess(self, trial, wrong, tile, again=None):
        """Say which mistake would give this result, or return ""; arguments as in `course_lib.check.sgemm`."""
        untouched = _untouched(trial) & wrong.mask
        if trial.case.pad and self._is_close_packed(trial):
            distance = self._distances().split(", ")[-1]
            return f"The rows of {self.names[1]} are written one behind the other: they begin {distance} elements apart"
        if untouched.any():
            row, col = (int(i) for i in np.argwhere(untouched)[0])
            return (f"{self.names[1]} was filled with NaN beforehand, and {int(untouched.sum())} of its elements were never written, "
                    f"{self.names[1]}[{row}][{col}] first. {_place(trial.case, untouched, tile, self.names[1])}").strip()
        if np.isnan(trial.matrices()[2][wrong.mask]).any():
            return f"NaN stands between the rows, so an element there was read: rows begin {self._distances()} elements apart"
        return self._known(trial, tile) or self._moved(trial, wrong) or _place(trial.case, wrong.mask, tile, self.names[1])

    def _distances(self):
        return "lda, ldb, ldc" if self.adds else "ld_in, ld_out"

    def _right(self, trial):
        """Return the right result and how far rounding may be off: not at all where nothing is computed."""
        source, added = (m.astype(np.float64) for m in trial.matrices()[:2])
        if not self.adds:
            return source.T, np.zeros((1, 1))
        alpha = np.float64(np.float32(trial.case.alpha))
        return alpha * source.T + added, 2.0**-22 * (np.abs(alpha * source.T) + np.abs(added))

    def _known(self, trial, tile):
        """Compare the result with those of well-known mistakes."""
        with np.errstate(invalid="ignore"):                # whatever was in the memory that a wrong kernel read
            source, added, target = (m.astype(np.float64) for m in trial.matrices())
        for says, candidate in self._mistakes(source, added, trial.case, tile):
            if candidate.shape == target.shape and np.all(np.abs(candidate - target) <= 1e-5):
                return says
        return ""

    def _mistakes(self, source, added, case, tile):
        """Yield (sentence, the result that this mistake gives)."""
        here, there = self.names
        alpha = case.alpha if self.adds else 1.0
        yield f"All of {there} is 0: is the tile filled?", np.zeros_like(source.T)
        if self.adds:
            yield "alpha is not applied", source.T + added
            yield "B is not added", alpha * source.T
            yield "alpha multiplies B too", alpha * (source.T + added)
        size = tile["TILE"]
        if case.rows == case.cols:
            if self.adds:
                yield "B is added transposed: its element B[c][r] belongs to C[c][r]", alpha * source.T + added.T
            yield f"It is a copy and not turned: what {here}[r][c] holds belongs to {there}[c][r]", alpha * source + added
        if case.rows == case.cols and case.rows % size == 0:
            tiles = source.reshape(case.rows // size, size, case.cols // size, size)
            stays, unturned = (tiles.transpose(order).reshape(source.shape) for order in ((0, 3, 2, 1), (2, 1, 0, 3)))
            yield ("Each tile is turned, but stays where it was: block (x, y) reads the tile in row y and column x of tiles, and must "
                   "write the one in row x and column y", alpha * stays + added)
            yield ("The tiles are in their places, but none is turned inside: what is written along a row of it must be read down a "
                   "column", alpha * unturned + added)

    def _is_close_packed(self, trial):
        """Return whether the result is right for rows that are no longer than they need to be."""
        expected, allowed = self._right(trial)
        packed = trial.target[:expected.size].reshape(expected.shape)
        with np.errstate(invalid="ignore"):
            return bool(np.all(np.abs(packed - expected) <= allowed))

    def _moved(self, trial, wrong):
        """Say which element of the source, or of B, is in the first wrong element instead of the right one."""
        source, added = (m.astype(np.float64) for m in trial.matrices()[:2])
        here, there = self.names
        alpha, place = trial.case.alpha if self.adds else 1.0, f"{there}[{wrong.row}][{wrong.col}]"
        found = _only(source, (wrong.got - added[wrong.row, wrong.col]) / alpha)
        if found:
            verb = "has" if self.adds else "holds"
            return f"{place} {verb} {here}[{found[0]}][{found[1]}]; {here}[{wrong.col}][{wrong.row}] belongs there"
        found = _only(added, wrong.got - alpha * source[wrong.col, wrong.row]) if self.adds else None
        return f"{place} has B[{found[0]}][{found[1]}]; B[{wrong.row}][{wrong.col}] belongs there" if found else ""


def _only(matrix, value):
    """Return row and column of the one element that has a value, rounding aside; None when there is none, or more."""
    found = np.argwhere(np.abs(matrix - value) <= 1e-6)
    return tuple(int(i) for i in found[0]) if len(found) == 1 else None


def _flat(rng, rows, cols, pad):
    buffer = np.full((rows - 1) * (cols + pad) + cols, np.nan, np.float32)
    places = rng.permutation(rows * cols).reshape(rows, cols)
    _view(buffer, rows, cols, pad)[...] = (places + rng.uniform(0.25, 0.75, (rows, cols))) / (rows * cols) * 2 - 1
    return buffer


def _view(buffer, rows, cols, pad):
    step = buffer.itemsize
    return np.lib.stride_tricks.as_strided(buffer, (rows, cols), ((cols + pad) * step, step))


def _untouched(trial):
    """Return which elements of the target hold what they held before the launch."""
    case = trial.case
    return _view(trial.target.view(np.uint32), case.cols, case.rows, case.pad) == UNTOUCHED


def _stray(trial, name):
    """Return a sentence when the gaps between the target's rows are not as they were."""
    case = trial.case
    gaps = np.ones(len(trial.target), bool)
    _view(gaps, case.cols, case.rows, case.pad)[...] = False
    touched = int(np.count_nonzero(trial.target.view(np.uint32)[gaps] != UNTOUCHED))
    if not touched:
        return None
    return (f"{touched} element{'s' * (touched != 1)} between the rows of {name} overwritten: only the first `rows` elements of each "
            f"row belong to {name}")


def _place(case, mask, tile, name):
    """Say where the wrong elements are, when that tells something."""
    rows, cols, size = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0)), tile["TILE"]
    which = ""
    if case.cols % size and rows[0] >= case.cols // size * size > 0:
        which = f"rows of {name} from {rows[0]} on are concerned, in the partly filled last tile of cols = {case.cols}"
    elif case.rows % size and cols[0] >= case.rows // size * size > 0:
        which = f"columns of {name} from {cols[0]} on are concerned, in the partly filled last tile of rows = {case.rows}"
    return f"Only {which}: look at its guards" if which else ""
