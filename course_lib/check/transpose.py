"""Transposition as something to check: inputs, which results are right, what a wrong one looks like."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from course_lib.check.operation import Again, Mistakes, Tile
from course_lib.check.product_trial import viewed
from course_lib.run.types import Argument, Extent

UNTOUCHED = np.uint32(0x7FC12345)       # a NaN of its own: the target is full of it, and what still holds it was never written
PLAIN = "int rows, int cols, const float* in, int ld_in, float* out, int ld_out"
PER = 32                                # gates count what 32 elements cost: as many as a warp moves at once


@dataclass(frozen=True)
class Sheet:
    """One input: rows and columns of the matrix, and by how many elements each row is longer than it needs to be.

    >>> print(Sheet("wide", 32, 96, pad=5))
    32 rows, 96 columns, padded
    """

    name: str
    rows: int
    cols: int
    pad: int = 0

    def __str__(self) -> str:
        sizes = f"{self.rows} row{'s' * (self.rows != 1)}, {self.cols} column{'s' * (self.cols != 1)}"
        return f"{sizes}{', padded' if self.pad else ''}"


def whole_tile_cases(tile: Tile) -> tuple[Sheet, ...]:
    """Return the inputs that tiles of TILE × TILE fill."""
    size = tile["TILE"]
    return (
        Sheet("square, whole tiles", 2 * size, 2 * size),       # where a copy and a slip with the blocks show for what they are
        Sheet("wide, whole tiles", size, 3 * size),
        Sheet("tall, whole tiles", 3 * size, size),
        Sheet("padded rows", 2 * size, size, pad=5),
    )


def all_cases(tile: Tile) -> tuple[Sheet, ...]:
    """Return the inputs from plain to hard: whole tiles of TILE × TILE, then those that leave tiles partly filled."""
    size = tile["TILE"]
    return (
        *whole_tile_cases(tile),
        Sheet("a column more than a tile", size, size + 1),
        Sheet("a row more than a tile", size + 1, size),
        Sheet("one less than a tile", size - 1 or 1, size - 1 or 1),
        Sheet("a single element", 1, 1),
        Sheet("a single row", 1, 37, pad=1),
        Sheet("a single column", 41, 1),
        Sheet("primes, padded", 37, 101, pad=3),
    )


def gate_case(tile: Tile) -> Sheet:
    """Return the input for counters: 2 × 2 tiles, so that shared memory of 4 blocks serves all of its elements."""
    return Sheet("counters", 2 * tile["TILE"], 2 * tile["TILE"])


def drawn(tile: Tile, rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    return tuple(Sheet(f"drawn input {number}", *_two(rng, tile["TILE"]), pad=int(rng.integers(0, 7)))
                 for number in (1, 2, 3))


def _two(rng: np.random.Generator, size: int) -> tuple[int, int]:
    """Return rows and columns by chance, up to some more than three tiles of each."""
    rows, cols = rng.integers(1, 3 * size + 2, 2)
    return int(rows), int(cols)


def pieces(case: Sheet) -> float:
    """Return how many times 32 elements an input has.

    >>> pieces(Sheet("whole", 64, 64)), pieces(Sheet("odd", 3, 5))
    (128, 0.46875)
    """
    elements = case.rows * case.cols
    return elements // PER if elements % PER == 0 else elements / PER


def tile_grid(case: Sheet, tile: Tile) -> Extent:
    """Return the blocks that cover the input with tiles of TILE × TILE."""
    return (-(-case.cols // tile["TILE"]), -(-case.rows // tile["TILE"]), 1)


@dataclass(frozen=True)
class TransposeTrial:
    """One launch's arrays as the device sees them: flat, rows apart by more than their length where the input says so.

    `source` is rows × cols, `target` is cols × rows. NaN stands between the rows.
    """

    case: Sheet
    source: np.ndarray
    target: np.ndarray = field(repr=False)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        case = self.case
        return (np.int32(case.rows), np.int32(case.cols), self.source, np.int32(case.cols + case.pad), self.target,
                np.int32(case.rows + case.pad))

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return source and target as matrices."""
        case = self.case
        return viewed(self.source, case.rows, case.cols, case.pad), viewed(self.target, case.cols, case.rows, case.pad)


@dataclass(frozen=True)
class WrongElement:
    """A wrong result: the first wrong element in reading order, and a mask of all."""

    name: str                # of the target
    row: int
    col: int
    got: float
    expected: float
    mask: np.ndarray = field(repr=False)

    def __str__(self):
        return (f"{self.name}[{self.row}][{self.col}] is {self.got:.6g} instead of {self.expected:.6g}. "
                f"{int(self.mask.sum())} of {self.mask.size} elements of {self.name} are wrong")


@dataclass(frozen=True)
class Transpose:
    """out = inᵀ; float32, each with its own distance from row to row."""

    signature = PLAIN

    def work(self, case: Sheet) -> float:
        """Return how often 32 elements are moved."""
        return pieces(case)

    def trial(self, case: Sheet, seed: int = 0) -> TransposeTrial:
        """Make the inputs of a case: uniform numbers from -1 to 1, no two alike; the target is full of NaN."""
        source = _flat(np.random.default_rng([seed, case.rows, case.cols]), case.rows, case.cols, case.pad)
        source.flags.writeable = False                     # a kernel that writes there is stopped
        target = np.empty((case.cols - 1) * (case.rows + case.pad) + case.rows, np.float32)
        target.view(np.uint32)[:] = UNTOUCHED
        return TransposeTrial(case, source, target)

    def judge(self, trial: TransposeTrial) -> WrongElement | str | None:
        """Return the first `WrongElement` element, a sentence on a store where none belongs, or None."""
        source, target = trial.matrices()
        wrong = target != source.T                         # true for NaN
        if wrong.any():
            row, col = (int(i) for i in np.argwhere(wrong)[0])
            return WrongElement("out", row, col, float(target[row, col]), float(source[col, row]), wrong)
        return _stray(trial)

    def guess(self, trial: TransposeTrial, wrong: WrongElement, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `course_lib.check.sgemm`."""
        source, target = trial.matrices()
        untouched = _untouched(trial) & wrong.mask
        if trial.case.pad and np.array_equal(trial.target[:source.size].reshape(source.T.shape), source.T):
            return "The rows of out are written one behind the other: they begin ld_out elements apart"
        if untouched.any():
            row, col = (int(i) for i in np.argwhere(untouched)[0])
            return (f"out was filled with NaN beforehand, and {int(untouched.sum())} of its elements were never written, "
                    f"out[{row}][{col}] first. {_place(trial.case, untouched, tile, 'out')}").strip()
        if np.isnan(target[wrong.mask]).any():
            return "NaN stands between the rows, so an element there was read: rows begin ld_in, ld_out elements apart"
        known = (says for says, result in _mistakes(source, trial.case, tile["TILE"]) if np.array_equal(result, target))
        return next(known, "") or _moved(source, wrong) or _place(trial.case, wrong.mask, tile, "out")


def _mistakes(source: np.ndarray, case: Sheet, size: int) -> Mistakes:
    """Yield (sentence, the result that this mistake gives)."""
    yield "All of out is 0: is the tile filled?", np.zeros_like(source.T)
    if case.rows == case.cols:
        yield "It is a copy, and not transposed: what in[r][c] holds belongs to out[c][r]", source
    if case.rows == case.cols and case.rows % size == 0:
        tiles = source.reshape(case.rows // size, size, case.cols // size, size)
        yield ("Each tile is transposed, but stays where it was: block (x, y) reads the tile in row y and column x of tiles, and must "
               "write the one in row x and column y", tiles.transpose(0, 3, 2, 1).reshape(source.shape))
        yield ("The tiles are in their places, but none is transposed inside: what is written along a row of it must be read down a "
               "column", tiles.transpose(2, 1, 0, 3).reshape(source.shape))


def _moved(source: np.ndarray, wrong: WrongElement) -> str:
    """Say which element of the source is in the first wrong element instead of the right one."""
    found = _only(source, wrong.got)
    return (f"out[{wrong.row}][{wrong.col}] holds in[{found[0]}][{found[1]}]; in[{wrong.col}][{wrong.row}] belongs there" if found else "")


def _only(matrix: np.ndarray, value: float) -> tuple[int, int] | None:
    """Return row and column of the one element that has a value, rounding aside; None when there is none, or more."""
    found = np.argwhere(np.abs(matrix - value) <= 1e-6)
    return (int(found[0, 0]), int(found[0, 1])) if len(found) == 1 else None


def _flat(rng: np.random.Generator, rows: int, cols: int, pad: int) -> NDArray[np.float32]:
    buffer = np.full((rows - 1) * (cols + pad) + cols, np.nan, np.float32)
    order = rng.permutation(rows * cols).reshape(rows, cols)
    viewed(buffer, rows, cols, pad)[...] = (order + rng.uniform(0.25, 0.75, (rows, cols))) / (rows * cols) * 2 - 1
    return buffer


def _untouched(trial: TransposeTrial) -> np.ndarray:
    """Return which elements of the target hold what they held before the launch."""
    case = trial.case
    return viewed(trial.target.view(np.uint32), case.cols, case.rows, case.pad) == UNTOUCHED


def _stray(trial: TransposeTrial) -> str | None:
    """Return a sentence when the gaps between the target's rows are not as they were."""
    case = trial.case
    gaps = np.ones(len(trial.target), bool)
    viewed(gaps, case.cols, case.rows, case.pad)[...] = False
    touched = int(np.count_nonzero(trial.target.view(np.uint32)[gaps] != UNTOUCHED))
    if not touched:
        return None
    return (f"{touched} element{'s' * (touched != 1)} between the rows of out overwritten: only the first `rows` elements of each "
            "row belong to out")


def _place(case: Sheet, mask: np.ndarray, tile: Tile, name: str) -> str:
    """Say where the wrong elements are, when that tells something."""
    rows, cols, size = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0)), tile["TILE"]
    which = ""
    if case.cols % size and rows[0] >= case.cols // size * size > 0:
        which = f"rows of {name} from {rows[0]} on are concerned, in the partly filled last tile of cols = {case.cols}"
    elif case.rows % size and cols[0] >= case.rows // size * size > 0:
        which = f"columns of {name} from {cols[0]} on are concerned, in the partly filled last tile of rows = {case.rows}"
    return f"Only {which}: look at its guards" if which else ""
