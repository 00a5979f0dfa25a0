"""The matrices of one launch of a kernel for C = alpha A B + beta C, and the arguments that it gets of them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from course_lib.check.case import Case
from course_lib.run.inputs import PAIRS, WHOLE_ROWS, Boxes, matrix, split_factors
from course_lib.run.types import Argument


@dataclass(frozen=True)
class ProductTrial:
    """One launch's matrices: flat, with NaN between padded rows and, when beta is 0, in C.

    The device sees them so, but for A and B where the kernel has tensor maps of them; of their parts, it has both.
    """

    case: Case
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    before: np.ndarray = field(repr=False)      # C as it was
    transposed: str = ""                        # which matrices are stored column by column
    stored: str = ""                            # with boxes: the format of A and B there
    boxes: Boxes | None = None                  # of the tensor maps

    @property
    def args(self) -> tuple[Argument, ...]:
        """SGEMM's arguments in order; with boxes a tensor map, as `run` makes it, stands for a matrix and its leading dimension.

        Where the maps are of parts, scales, A, lda, B and ldb come last.
        """
        case, real = self.case, self.C.dtype.type
        sizes = (np.int32(case.M), np.int32(case.N), np.int32(case.K), real(case.alpha))
        lda, ldb, ldc = (np.int32(stored_as(*shape, name in self.transposed)[1] + gap(case, name, self.boxes))
                         for name, shape in shapes(case).items())
        if self.boxes is None:
            return (*sizes, self.A, lda, self.B, ldb, real(case.beta), self.C, ldc)
        if self.stored == "bf16x3":
            split, shifts = split_factors(self.view("A", self.A), self.view("B", self.B), self.boxes)
            return (*sizes, *split, real(case.beta), self.C, ldc, *shifts, self.A, lda, self.B, ldb)
        factors = [matrix(name, self.view(name, X), self.stored, WHOLE_ROWS) for name, X in (("A", self.A), ("B", self.B))]
        for X in factors:
            X.buffer.flags.writeable = False             # a kernel that stores there is stopped
        maps = (X.map(X.buffer, box) for X, box in zip(factors, self.boxes, strict=True))
        return (*sizes, *maps, real(case.beta), self.C, ldc)

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return A, B and C before the launch, and C now, as matrices."""
        return self.view("A", self.A), self.view("B", self.B), self.view("C", self.before), self.view("C", self.C)

    def view(self, name: str, buffer: np.ndarray) -> np.ndarray:
        """Return a flat buffer as the matrix `name` that it stores."""
        transposed = name in self.transposed
        seen = viewed(buffer, *stored_as(*shapes(self.case)[name], transposed), gap(self.case, name, self.boxes))
        return seen.T if transposed else seen


def shapes(case: Case) -> dict[str, tuple[int, int]]:
    """Return the rows and columns of each matrix."""
    return {"A": (case.M, case.K), "B": (case.K, case.N), "C": (case.M, case.N)}


def stored_as(rows: int, cols: int, transposed: bool) -> tuple[int, int]:
    """Return the rows and columns in memory of a matrix that may be stored column by column."""
    return (cols, rows) if transposed else (rows, cols)


def gap(case: Case, name: str, boxes: Boxes | None = None) -> int:
    """Return the elements between two rows of a matrix; a kernel with tensor maps stores C in pairs, so that its rows begin at even ones.

    >>> case = Case("some", 4, 5, 6, pad=2)
    >>> gap(case, "C"), gap(case, "C", ((64, 64), (64, 64)))
    (2, 3)
    """
    return case.pad + (-(case.N + case.pad) % PAIRS if boxes and name == "C" else 0)


def filled(rng: np.random.Generator, rows: int, cols: int, gap: int, dtype: str = "float32") -> NDArray[np.floating]:
    """Return a flat buffer with a matrix of numbers from -1 to 1, and NaN between its rows."""
    buffer = np.full((rows - 1) * (cols + gap) + cols, np.nan, dtype)
    viewed(buffer, rows, cols, gap)[...] = rng.uniform(-1, 1, (rows, cols))
    return buffer


def viewed(buffer: np.ndarray, rows: int, cols: int, gap: int) -> np.ndarray:
    """Return a flat buffer as a matrix with so many elements between its rows."""
    step = buffer.itemsize
    return np.lib.stride_tricks.as_strided(buffer, (rows, cols), ((cols + gap) * step, step))
