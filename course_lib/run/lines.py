"""Count the cache lines that a program fetches: its own text, with A(i, k), B(k, j), C(i, j) going through a cache."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.kernels import CpuKernel
from course_lib.kernels.cpu import FOLDER
from course_lib.model.cache_lines import (
    MATRICES,
    CacheShape,
    LineCounter,
    blocked_accesses,
    blocked_steps,
    count_steps,
    loop_accesses,
    loop_steps,
)
from course_lib.run.cpu import name_of, resolve_cpu
from course_lib.run.inputs import Problem, problem
from course_lib.run.types import CpuKernelLike

Shapes: TypeAlias = tuple[tuple[int, int, int], ...]                        # (rows, columns, leading dimension) of A, B and C
Counted: TypeAlias = tuple[Sequence[int], Sequence[int], np.ndarray]       # lines fetched and accesses of A, B and C; the trace
MOST_PYTHON = 2**21      # multiply-adds that are counted without a C compiler: some two seconds
MOST_ACCESSES = 2**33    # of a program until it is ended
MOST_TRACED = 2**20      # accesses traced one by one: 24 MB
LIMIT_S = 60


@dataclass(frozen=True)
class LineCount:
    """What a program asked of the cache.

    Attributes
    ----------
    fetched, accesses
        For "A", "B", "C": lines fetched, and accesses through the macro.
    C
        (M, N); what the program computed while its lines were counted.
    counted_by
        "c" or "python".
    trace
        (n, 6) int array; of the first n accesses that were asked for: matrix (0, 1, 2), row, col, line, whether it was fetched, and the
        line that went for it or -1. Lines are numbered through all three matrices.
    shapes
        (rows, cols, leading dimension) of A, B and C.
    """

    kernel: CpuKernel
    parameters: dict[str, int]
    M: int
    N: int
    K: int
    dtype: str
    cache: CacheShape
    fetched: dict[str, int]
    accesses: dict[str, int]
    C: np.ndarray = field(repr=False)
    counted_by: str
    trace: np.ndarray = field(repr=False)
    shapes: Shapes

    label = "counted in a model of a cache"

    @property
    def total(self) -> int:
        """Return the lines fetched for all three matrices."""
        return sum(self.fetched.values())

    @property
    def per_multiply_add(self) -> float:
        """Return lines fetched, divided by M N K."""
        return self.total / (self.M * self.N * self.K)

    def __repr__(self) -> str:
        """Return a table as text."""
        rows = [f"{self.kernel.name}: C is {self.M} × {self.N}, K = {self.K}, {self.dtype}; {self.cache}",
                "matrix     accesses  lines fetched"]
        rows += [f"{name:<6} {self.accesses[name]:>12} {self.fetched[name]:>14}" for name in MATRICES]
        return "\n".join([*rows, f"all    {sum(self.accesses.values()):>12} {self.total:>14}: "
                                 f"{self.per_multiply_add:.4f} lines per multiply-add ({self.label})"])


def count_lines(kernel: CpuKernelLike, A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None, *, alpha: float = 1.0, beta: float = 0.0,
                cache: CacheShape | None = None, by: str | None = None, most: int = MOST_ACCESSES, limit_s: float = LIMIT_S, trace: int = 0,
                **parameters: int) -> LineCount:
    """Run a program on a model of a cache, and count the lines it fetches for each matrix.

    Parameters
    ----------
    kernel
        One of the six loop orders, gemm_blocked, or C text of your own that reaches the matrices by A(i, k), B(k, j),
        C(i, j) (`course_lib.kernels.own_program`). C = beta C, which comes first, is not counted.
    A, B, C, alpha, beta
        As for `run_cpu`.
    cache
        Default 32 KiB, fully associative, lines of 64 bytes.
    by
        Who counts: "c" or "python". None: C, or Python for a program of the catalog when there is no C compiler. The counts are the same.
    most
        Accesses after which the program is ended.
    limit_s
        Seconds after which it is ended.
    trace
        How many accesses, from the first on, are traced one by one.

    Raises
    ------
    CourseError
        Without a C compiler for a text of your own; when the text does not compile, leaves a matrix or does not end.
    """
    kernel, cache = resolve_cpu(kernel), cache or CacheShape()
    values = kernel.check(**parameters)
    if not kernel.counted:
        raise CourseError(f"{kernel.name} does not reach its matrices by A(i, k), B(k, j), C(i, j) alone, so its cache lines "
                          "cannot be counted: take one of the loop orders, gemm_blocked or loops of your own")
    dtype = "float64" if getattr(A, "dtype", None) == np.float64 else "float32"
    task = problem(A, B, C, alpha, beta, dtype)
    by = by or _who(kernel)
    if by not in ("c", "python"):
        raise CourseError(f"by = {by!r}: lines are counted by 'c' or by 'python'")
    if not 0 <= trace <= MOST_TRACED:
        raise CourseError(f"trace = {trace}: up to {MOST_TRACED} accesses can be traced one by one")
    fetched, accesses, traced = (_in_c(kernel, values, task, dtype, cache, most, limit_s, trace) if by == "c"
                                 else _in_python(kernel, values, task, cache, trace))
    return LineCount(kernel, values, task.M, task.N, task.K, dtype, cache, dict(zip(MATRICES, fetched, strict=True)),
                     dict(zip(MATRICES, accesses, strict=True)), np.array(task.C.view(), order="C"), by, traced, _shapes(task))


def _shapes(task: Problem) -> Shapes:
    return tuple((m.rows, m.cols, m.ld) for m in (task.A, task.B, task.C))


def _who(kernel: CpuKernel) -> str:
    if kernel.text is not None:
        toolchain.host_compiler()       # or an error: Python cannot run the reader's C
        return "c"
    return "python" if toolchain.no_compiler() else "c"


def _in_c(kernel: CpuKernel, values: dict[str, int], task: Problem, dtype: str, cache: CacheShape, most: int, limit_s: float,
          trace: int) -> Counted:
    """Count in C, in a process of its own; return (fetched, accesses, trace) and leave the result in the task's C."""
    name = name_of(kernel)
    program = toolchain.compile_c(
        _counting_text(kernel, name), name=name, as_written=True, texts=kernel.texts or {name: kernel.source},
        defines={**kernel.defines(dtype, **values), "PROGRAM": kernel.entry})
    buffers = [task.A.buffer, task.B.buffer, task.C.buffer]
    kinds, given = toolchain.gemm_arguments(task.A.view(), task.B.view(), task.C.view(), float(task.alpha), float(task.beta))
    where = iter(buffers)
    arguments: list[Any] = [next(where) if kind == "array" else value for kind, value in zip(kinds, given, strict=True)]
    out, traced = np.zeros(11, np.int64), np.zeros((max(trace, 1), 6), np.int32)
    arguments += [cache.line, cache.sets, cache.lines // cache.sets, most, trace, traced, out]
    status, _ = toolchain.call_in_subprocess(program, "run_counted", [*kinds, *["long"] * 5, "array", "array"], arguments,
                                     status=True, limit_s=limit_s)
    if status:
        raise CourseError("there is no memory for the lists of the cache: take smaller matrices")
    _explain(name, task, [int(x) for x in out[6:]], most, kernel)
    if not out[3:6].any():
        raise CourseError(f"{name} reaches no element by A(i, k), B(k, j) or C(i, j), so nothing is counted")
    return [int(x) for x in out[:3]], [int(x) for x in out[3:6]], traced[:min(trace, int(out[3:6].sum()))]


def _counting_text(kernel: CpuKernel, name: str) -> str:
    """Put the program between the counting macros and the function that runs it."""
    pieces = (("count_lines.h", (FOLDER / "count_lines.h").read_text(encoding="utf-8")), (name, kernel.source),
              ("count_lines_end.h", (FOLDER / "count_lines_end.h").read_text(encoding="utf-8")))
    return "".join(f'#line 1 "{piece}"\n{text}\n' for piece, text in pieces)


def _explain(name: str, task: Problem, end: Sequence[int], most: int, kernel: CpuKernel) -> None:
    reason, number, row, col, line = end
    if not reason:
        return
    matrix = (task.A, task.B, task.C)[number]
    text = (kernel.texts.get(name) or kernel.source).split("\n")
    shown = f"\n    {line:>4} | {text[line - 1].rstrip()}" if 0 < line <= len(text) else ""
    if reason == 2:
        raise CourseError(f"{name}, line {line}: ended after {most} accesses, {most / (task.M * task.N * task.K):.0f} for each "
                          f"multiply-add: does a loop count past its end?{shown}", line=line)
    raise CourseError(f"{name}, line {line}: {matrix.name}({row}, {col}) does not exist, {matrix.name} has {matrix.rows} rows "
                      f"and {matrix.cols} columns{shown}", line=line, matrix=matrix.name, row=row, col=col)


def _in_python(kernel: CpuKernel, values: dict[str, int], task: Problem, cache: CacheShape, trace: int) -> Counted:
    """Count in Python, and compute C with NumPy; return (fetched, accesses, trace)."""
    sizes = task.M, task.N, task.K
    if kernel.text is not None:
        raise CourseError("a text of your own is counted by C, not by Python: `by` must be 'c'")
    if task.M * task.N * task.K > MOST_PYTHON:
        raise CourseError(f"without a C compiler {task.M} × {task.N} × {task.K} multiply-adds take too long to count: "
                          "take N up to 128")
    about = _shapes(task), task.A.buffer.itemsize, cache
    steps = loop_steps(kernel.order, *sizes) if kernel.order else blocked_steps(*sizes, **values)
    fetched, counter = count_steps(steps, *about), LineCounter(*about, room=trace)
    one_by_one = loop_accesses(kernel.order, *sizes) if kernel.order else blocked_accesses(*sizes, **values)
    for access in itertools.islice(one_by_one, trace):
        counter.touch(*access)
    counter.finish()
    C = task.C.view()
    product = task.alpha * (task.A.view() @ task.B.view())
    C[...] = product if task.beta == 0 else product + task.beta * C
    return fetched, [task.M * task.N * task.K] * 3, np.array(counter.trace, np.int32).reshape(-1, 6)
