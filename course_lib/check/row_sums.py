"""The sum of each row of a matrix as something to check."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.check.operation import Again, Tile
from course_lib.check.product_trial import viewed
from course_lib.check.transpose import Sheet, WrongElement, _flat, all_cases, drawn, gate_case, pieces
from course_lib.kernels.kernel import ceil_div
from course_lib.run.types import Argument, Extent

__all__ = ["RowSums", "all_cases", "drawn", "gate_case", "grid"]
SIGNATURE = "int rows, int cols, const float* in, int ld_in, float* sums"
ROUNDING = 2.0**-23          # of a float32 sum, for each addition


def grid(case: Sheet, tile: Tile) -> Extent:
    """Return one block for each TILE rows."""
    return ceil_div(case.rows, tile["TILE"]), 1, 1


@dataclass(frozen=True)
class RowSumsTrial:
    """One launch's arrays: the matrix, flat, with NaN between its rows; and the sums, full of NaN."""

    case: Sheet
    source: np.ndarray
    sums: np.ndarray = field(repr=False)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The kernel's arguments in order."""
        case = self.case
        return np.int32(case.rows), np.int32(case.cols), self.source, np.int32(case.cols + case.pad), self.sums

    def matrix(self) -> np.ndarray:
        """Return the matrix in float64."""
        return viewed(self.source, self.case.rows, self.case.cols, self.case.pad).astype(np.float64)


class WrongSum(WrongElement):
    """A wrong sum: the first wrong one, and a mask of all, of one column."""

    def __str__(self):
        return (f"sums[{self.row}] is {self.got:.6g} instead of {self.expected:.6g}. "
                f"{int(self.mask.sum())} of {self.mask.size} sums are wrong")


@dataclass(frozen=True)
class RowSums:
    """sums[r] = in[r][0] + in[r][1] + …, float32, in any order."""

    signature = SIGNATURE

    def work(self, case: Sheet) -> float:
        """Return how many times 32 elements there are."""
        return pieces(case)

    def trial(self, case: Sheet, seed: int = 0) -> RowSumsTrial:
        """Make the input of a case: uniform numbers from -1 to 1, no two alike."""
        source = _flat(np.random.default_rng([seed, case.rows, case.cols]), case.rows, case.cols, case.pad)
        source.flags.writeable = False
        return RowSumsTrial(case, source, np.full(case.rows, np.nan, np.float32))

    def judge(self, trial: RowSumsTrial) -> WrongSum | None:
        """Return the first `WrongSum`, or None."""
        matrix = trial.matrix()
        expected, allowed = matrix.sum(axis=1), trial.case.cols * ROUNDING * np.abs(matrix).sum(axis=1)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(trial.sums - expected) <= allowed)           # true for NaN
        if not wrong.any():
            return None
        row = int(np.flatnonzero(wrong)[0])
        return WrongSum("sums", row, 0, float(trial.sums[row]), float(expected[row]), wrong[:, None])

    def guess(self, trial: RowSumsTrial, wrong: WrongSum, tile: Tile, again: Again | None = None) -> str:
        """Say which mistake would give this result, or return ""; arguments as in `course_lib.check.sgemm`."""
        matrix, size = trial.matrix(), tile["TILE"]
        with np.errstate(invalid="ignore"):
            sums = trial.sums.astype(np.float64)
        last, first = matrix.shape[1] // size * size, min(size, matrix.shape[1])
        if np.isnan(sums).any():
            return (f"{int(np.isnan(sums).sum())} of the sums are NaN: they were never written, or an element between the rows was read "
                    "(rows begin ld_in elements apart)")
        known = [("These are the sums of the columns", matrix.sum(axis=0)),
                 ("Only the first tile of each row is summed", matrix[:, :first].sum(axis=1)),
                 ("The partly filled last tile of each row is missing", matrix[:, :last].sum(axis=1))]
        if matrix.shape[0] % size == matrix.shape[1] % size == 0:
            downward = matrix.reshape(-1, size, matrix.shape[1] // size, size).sum(axis=(1, 2)).ravel()
            known.append(("The tiles are summed down their columns instead of along their rows", downward))
        return next((says for says, sums_then in known if sums_then.shape == sums.shape and np.allclose(sums_then, sums, atol=1e-5)), "")
