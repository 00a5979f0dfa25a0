"""Kernels that are a step of a product: transposition, bare multiplication, sum, split; and Wong's unfused product made of them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.kernels.kernel import ceil_div
from course_lib.model.number_formats import QUIET_NAN
from course_lib.run.inputs import WHOLE_ROWS, Matrix, check_array, matrix, number
from course_lib.run.launch import KernelLaunch, execute, take_options
from course_lib.run.result import LaunchResult
from course_lib.run.types import Argument, Array, Rows

FLOAT = np.dtype(np.float32)


@dataclass(frozen=True, repr=False)
class StepResult(LaunchResult):
    """What a launch of one step gave.

    Attributes, beside those of every launch
    ----------------------------------------
    out
        (rows, cols); three of these for a split, of uint16, the bits of bfloat16.
    shifts
        Of a split: for each line, which power of two it was multiplied by; see `scaled_parts`.
    flops, bytes
        Floating-point operations; bytes that it must read and write at least.
    ld
        Elements from one row to the next of what was transposed, or of the parts; None for the other steps.
    """

    out: NDArray[np.float32 | np.uint16] = field(repr=False)
    flops: int
    bytes: int
    ld: int | None = None
    shifts: NDArray[np.int32] | None = field(repr=False, default=None)

    @property
    def gb_s(self) -> float | None:
        """Return 10**9 bytes a second, or None without a measured time."""
        return self.bytes / self.time.median_s / 1e9 if self.time else None

    def head_rows(self) -> Rows:
        """Return the rows on what was computed."""
        rows = [("result", f"{' × '.join(map(str, self.out.shape))}, {self.label}"),
                ("launch", f"grid {self.grid[0]} × {self.grid[1]}, block {self.block[0]} × {self.block[1]}")]
        if self.time:
            rows.append(("time", f"{self.time}, {self.gb_s:.1f} GB/s"))
        return tuple(rows)


def run_transpose(kernel: str | Kernel, values: Array, **options: Any) -> StepResult:
    """Transpose a matrix with one kernel.

    Parameters
    ----------
    kernel
        A kernel of this kind: `transpose`, `transpose_plain`.
    values
        (rows, cols) of float32; rows may be padded.
    **options
        As for `run`, and parameters of the kernel.
    """
    kernel = _of_kind(kernel, "transpose")
    given = _matrix("values", values)
    out = np.full(given.rows * given.cols, np.nan, FLOAT)
    arguments = (np.int32(given.rows), np.int32(given.cols), given.buffer, np.int32(given.ld), out, np.int32(given.rows))
    return _step(kernel, arguments, 4, (given.cols, given.rows), (given.rows, given.cols), 0, 8 * given.rows * given.cols, options,
                 ld=given.ld)


def run_multiply(kernel: str | Kernel, A: Array, B: Array, **options: Any) -> StepResult:
    """Compute A B; parameters, options and result as for `run_transpose`."""
    kernel = _of_kind(kernel, "multiply")
    a, b = _matrix("A", A), _matrix("B", B)
    if a.cols != b.rows:
        raise CourseError(f"A is {a.rows} × {a.cols} and B is {b.rows} × {b.cols}: B must have as many rows as A has columns, {a.cols}")
    M, N, K = a.rows, b.cols, a.cols
    out = np.full(M * N, np.nan, FLOAT)
    arguments = (np.int32(M), np.int32(N), np.int32(K), a.buffer, np.int32(a.ld), b.buffer, np.int32(b.ld), out, np.int32(N))
    return _step(kernel, arguments, 7, (M, N), (M, N), 2 * M * N * K, 4 * (M * K + K * N + M * N), options)


def run_sum(kernel: str | Kernel, P: Array, C: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0, **options: Any) -> StepResult:
    """Compute alpha P + beta C; C may be left out when beta is 0."""
    kernel = _of_kind(kernel, "sum")
    p = _matrix("P", P)
    if C is None and beta != 0:
        raise CourseError(f"beta = {beta} adds to C, but no C is given: give C, or leave beta at 0")
    c = _matrix("C", np.full((p.rows, p.cols), np.nan, FLOAT) if C is None else C)
    if (c.rows, c.cols) != (p.rows, p.cols):
        raise CourseError(f"P is {p.rows} × {p.cols} and C is {c.rows} × {c.cols}: they must have one shape")
    factors = number("alpha", alpha, FLOAT), number("beta", beta, FLOAT)
    shape, size = (p.rows, p.cols), p.rows * p.cols
    arguments = (np.int32(p.rows), np.int32(p.cols), factors[0], p.buffer, np.int32(p.ld), factors[1], c.buffer, np.int32(c.ld))
    moved = 4 * size * (2 if factors[1] == 0 else 3)
    return _step(kernel, arguments, 6, shape, shape, size * (1 if factors[1] == 0 else 3), moved, options, c)


def run_split(kernel: str | Kernel, values: Array, *, by_columns: bool = False, ld: int | None = None, **options: Any) -> StepResult:
    """Split a matrix into three of bfloat16 whose sum it is, times a power of two; parameters, options and result as for `run_transpose`.

    `by_columns`: each column has a power of its own, as B wants it, not each row. `ld`: elements from one row of a part to the next, by
    default the least that a tensor map takes.
    """
    kernel = _of_kind(kernel, "split")
    x = _matrix("values", values)
    ld = ceil_div(x.cols, WHOLE_ROWS) * WHOLE_ROWS if ld is None else ld
    if ld < x.cols:
        raise CourseError(f"rows of the parts begin {ld} elements apart, but each has {x.cols}: take a larger ld")
    parts = Matrix("parts", x.rows, x.cols, ld, np.full((3 * x.rows - 1) * ld + x.cols, QUIET_NAN), parts=3)
    lines, size = x.cols if by_columns else x.rows, x.rows * x.cols
    arguments = (np.int32(x.rows), np.int32(x.cols), x.buffer, np.int32(x.ld), np.int32(by_columns), parts.buffer, np.int32(ld),
                 np.zeros(lines, np.int32))
    launch = take_options(options)
    values = kernel.check(**options)
    done = execute(KernelLaunch(kernel, values, arguments, (5, 7), kernel.grid(lines, **values), kernel.block(**values)), **launch)
    return StepResult(out=np.array(parts.view(done.outputs[0])), flops=6 * size, bytes=10 * size + 4 * lines, ld=ld, shifts=done.outputs[1],
                      **done.facts)


def run_unfused(A: Array, B: Array, C: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
                transposed: tuple[bool, bool] = (False, False), **options: Any) -> tuple[StepResult, ...]:
    """Compute alpha op(A) op(B) + beta C as Wong first did: transpose the operands that need it, multiply, add.

    Parameters
    ----------
    A, B, C, alpha, beta
        As for `run`; A is (K, M) when transposed[0], B is (N, K) when transposed[1].
    **options
        As for `run`, without parameters of a kernel.

    Returns
    -------
    tuple
        One for each kernel; the last one's `out` is the answer.
    """
    steps, operands = [], []
    for array, transpose in zip((A, B), transposed, strict=True):
        if transpose:
            steps.append(run_transpose("transpose", array, **options))
        operands.append(steps[-1].out if transpose else array)
    steps.append(run_multiply("sgemm_multiply", *operands, **options))
    steps.append(run_sum("matrix_sum", steps[-1].out, C, alpha=alpha, beta=beta, **options))
    return tuple(steps)


def _of_kind(kernel: str | Kernel, kind: str) -> Kernel:
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    if kernel.kind != kind:
        raise CourseError(f"{kernel.name} is not for this: its kind is {kernel.kind!r}, not {kind!r}", kernel=kernel.name)
    return kernel


def _matrix(name: str, array: Array) -> Matrix:
    check_array(name, array, FLOAT)
    return matrix(name, array)


def _step(kernel: Kernel, arguments: tuple[Argument, ...], output: int, shape: tuple[int, int], covered: tuple[int, int], flops: int,
          moved: int, options: dict[str, Any], layout: Matrix | None = None, ld: int | None = None) -> StepResult:
    """Launch; `covered` is what the grid must cover, `layout` the Matrix of the output when its rows are padded."""
    launch = take_options(options)
    values = kernel.check(**options)
    job = KernelLaunch(kernel, values, arguments, (output,), kernel.grid(*covered, **values), kernel.block(**values))
    done = execute(job, **launch)
    out = done.outputs[0].reshape(shape) if layout is None else np.array(layout.view(done.outputs[0]))
    return StepResult(out=out, flops=flops, bytes=moved, ld=ld, **done.facts)
