"""One constant matrix times many vectors: the LSU homework's program, with its columns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.run.accuracy import Mismatch, mismatch
from course_lib.run.inputs import contiguous
from course_lib.run.launch import KernelLaunch, execute, take_options
from course_lib.run.result import LaunchResult
from course_lib.run.types import Rows

MOST_ELEMENTS = 2**31 - 1      # the kernels index with int
EXECUTED = "smsp__inst_executed.sum"


def run_vectors(kernel: str | Kernel, matrix: NDArray[np.float32], vectors: NDArray[np.float32], **options: Any) -> "VectorsResult":
    """Multiply every vector by one matrix: out[h] = matrix @ vectors[h].

    Parameters
    ----------
    kernel
        A kernel of this kind, such as `mxv_sh`.
    matrix
        (M, N); goes into constant memory, and M and N are compiled into the kernel.
    vectors
        (S, N).
    **options
        As for `run`: backend, racecheck, trace, counters, device, warp_order, progress; the others are parameters
        of the kernel, such as `threads=512`.

    Raises
    ------
    CourseError
        For everything that a reader can get wrong.
    """
    kernel = get(kernel) if isinstance(kernel, str) else kernel
    if kernel.kind != "vectors":
        raise CourseError(f"{kernel.name} does not multiply vectors by a constant matrix: take one of the mxv kernels", kernel=kernel.name)
    matrix, vectors = contiguous("matrix", matrix, 2), contiguous("vectors", vectors, 2)
    (M, N), (S, inner) = matrix.shape, vectors.shape
    if inner != N:
        raise CourseError(f"matrix is {M} × {N} and the vectors have {inner} components: they must have {N}")
    if S * max(M, N) > MOST_ELEMENTS:
        raise CourseError(f"{S} vectors of {max(M, N)} components are more elements than the kernels index ({MOST_ELEMENTS}): take fewer")
    launch = take_options(options)
    values = kernel.check(M=M, N=N, **options)
    out = np.full((S, M), np.nan, np.float32)
    arguments = (np.int32(S), vectors, out)
    job = KernelLaunch(kernel, values, arguments, (2,), kernel.grid(S, **values), kernel.block(**values), {"matrix": matrix})
    done = execute(job, **launch)
    return VectorsResult(M=M, N=N, S=S, out=done.outputs[0], matrix=matrix, vectors=vectors, **done.facts)


@dataclass(frozen=True, repr=False)
class VectorsResult(LaunchResult):
    """What a launch on many vectors gave.

    Attributes, beside those of every launch
    ----------------------------------------
    M, N, S
        Components of an output and of an input vector; vectors.
    out
        (S, M).
    matrix, vectors
        The inputs.
    """

    M: int
    N: int
    S: int
    out: NDArray[np.float32] = field(repr=False)
    matrix: NDArray[np.float32] = field(repr=False)
    vectors: NDArray[np.float32] = field(repr=False)

    @property
    def multiply_adds(self) -> int:
        """Return S M N: the homework counts a multiply-add as one operation."""
        return self.S * self.M * self.N

    @property
    def bytes(self) -> int:
        """Return 4 S (M + N), the bytes that must cross the chip's border at least."""
        return 4 * self.S * (self.M + self.N)

    @property
    def gflops(self) -> float | None:
        """Return 10**9 multiply-adds a second, or None without a measured time."""
        return self.multiply_adds / self.time.median_s / 1e9 if self.time else None

    @property
    def gb_s(self) -> float | None:
        """Return 10**9 bytes a second, or None without a measured time."""
        return self.bytes / self.time.median_s / 1e9 if self.time else None

    @property
    def instructions_per_multiply_add(self) -> float | None:
        """Return I/F, the instructions that threads execute for each multiply-add; None without counters."""
        return None if self.counters is None else 32 * self.counters[EXECUTED] / self.multiply_adds

    @property
    def load_utilisation(self) -> float | None:
        """Return the used part of the bytes that load requests ask for; None without counters.

        A sector that two requests ask for counts twice, as in the homework's last column.
        """
        if self.counters is None:
            return None
        return 4 * self.S * self.N / (32 * self.count("sectors"))

    @property
    def store_utilisation(self) -> float | None:
        """Return the written part of the sectors that store requests ask for, counted as `load_utilisation`; None without counters."""
        if self.counters is None:
            return None
        return 4 * self.S * self.M / (32 * self.count("sectors", "store"))

    def mismatch(self) -> Mismatch | None:
        """Return the worst element, or None when all are right."""
        return mismatch(self.out, self.vectors, self.matrix.T)

    def head_rows(self) -> Rows:
        """Return the rows on what was computed."""
        rows = [("vectors", f"{self.S} of {self.N} components, to {self.M}; {self.label}"),
                ("launch", f"{self.grid[0]} blocks of {self.block[0]} threads")]
        if self.time:
            rows.append(("time", f"{self.time}, {self.gflops:.1f} GF, {self.gb_s:.1f} GB/s"))
        if self.counters is not None:
            rows.append(("efficiency", f"{self.instructions_per_multiply_add:.2f} instructions a multiply-add (PTX), "
                         f"{self.load_utilisation:.1%} of the loaded sectors used"))
        return tuple(rows)
