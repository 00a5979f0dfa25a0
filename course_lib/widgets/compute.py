"""What a live widget computes: the run for one position, and why a position cannot run. No widgets here."""

import contextlib
import functools
import html
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.run import choose_backend, resolve, run, run_gather, run_transpose, run_vectors
from course_lib.run.copies import needed

PADDING = {"lda": "floats added to each row of A", "ldb": "floats added to each row of B", "ldc": "floats added to each row of C"}
_timing = threading.Lock()      # two kernels on the GPU at once would spoil each other's time


@functools.lru_cache(maxsize=8)
def inputs(M: int, N: int, K: int, dtype: str = "float32") -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return random A (M, K), B (K, N) and C (M, N), float32 unless told otherwise, the same ones each time; read-only.

    >>> [x.shape for x in inputs(2, 3, 4)]
    [(2, 4), (4, 3), (2, 3)]
    """
    rng = np.random.default_rng(20)
    A, B, C = (rng.standard_normal(shape, dtype=np.dtype(dtype)) for shape in ((M, K), (K, N), (M, N)))
    for matrix in (A, B, C):
        matrix.flags.writeable = False
    return A, B, C


def explain(kernel: Kernel, parameters: Mapping[str, int]) -> str | None:
    """Say which rules a choice of parameters breaks, and why the hardware has them, where that is known.

    None when the kernel can run.

    >>> from course_lib import kernels
    >>> print(explain(kernels.get("sgemm_naive"), {"bx": 64, "by": 32}))
    bx × by = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: with by = 32, bx can be up to 32. \
Every NVIDIA GPU since 2010 stops at 1024 threads per block.
    """
    problems = kernel.problems(**parameters)
    if not problems:
        return None
    reasons = [rule.why for rule in kernel.rules if rule.problem({p.name: parameters.get(p.name, p.default)
                                                                   for p in kernel.parameters})]
    said = [f"{problem}. {why if why[0].isupper() else f'Why: {why}'}." for problem, why in zip(problems, reasons, strict=False)]
    return "\n".join(said + [f"{problem}." for problem in problems[len(said):]])


def evaluate(kernel: str | Kernel | Path, N: int, parameters: Mapping[str, int], **options: Any) -> Any:
    """Run a kernel on N × N matrices; one that copies, on N floats; one for many vectors, on N of them.

    Parameters
    ----------
    kernel
        That multiplies (`run`), transposes (`run_transpose`), copies (`run_gather`), or multiplies vectors (`run_vectors`).
    parameters
        Of the kernel; and "lda", "ldb", "ldc": floats added to each row of A (or of what is transposed), B or C.
    **options
        As for `run`.

    Returns
    -------
    RunResult, StepResult, GatherResult or VectorsResult
        As its kind of kernel gives.

    Raises
    ------
    CourseError
        With the rule that is broken and its reason, before anything is compiled.
    """
    resolved = resolve(kernel)
    own = {name: value for name, value in parameters.items() if name not in PADDING}
    padding = {name: value for name, value in parameters.items() if name in PADDING}
    reason = explain(resolved, own)
    if reason:
        raise CourseError(reason, kernel=resolved.name, parameters=parameters)
    arguments, launch = _inputs_for(resolved, N, own, padding)
    own = {name: value for name, value in own.items() if resolved.kind != "vectors" or name not in "MN"}      # there the matrix says them
    alone: AbstractContextManager[Any] = _timing if choose_backend(options.get("backend")) == "gpu" else contextlib.nullcontext()
    with alone:
        return launch(resolved, *arguments, **options, **own)


def _inputs_for(kernel, N, own, padding):
    """Return the arrays that a kernel of this kind is given, and the function that runs it."""
    if kernel.kind == "gather":
        far = {name: own.get(name, default) for name, default in (("stride", 1), ("offset", 0), ("VEC", 1))}
        return (floats(needed(N, **far)), N), run_gather
    if kernel.kind == "vectors":
        sizes = {p.name: p.default for p in kernel.parameters} | own
        return vectors(N, sizes["M"], sizes["N"]), run_vectors
    A, B, C = inputs(N, N, N, kernel.dtype)
    if kernel.kind == "transpose":
        return (widened(A, padding.get("lda", 0)),), run_transpose
    last = (widened(C, padding["ldc"]),) if padding.get("ldc") else ()
    return (widened(A, padding.get("lda", 0)), widened(B, padding.get("ldb", 0)), *last), run


@functools.lru_cache(maxsize=8)
def vectors(S: int, M: int = 16, N: int = 16) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a random matrix (M, N) and vectors (S, N) in float32, the same ones each time; read-only.

    >>> [x.shape for x in vectors(5, 2, 3)]
    [(2, 3), (5, 3)]
    """
    rng = np.random.default_rng(13)
    made = rng.standard_normal((M, N), dtype=np.float32), rng.standard_normal((S, N), dtype=np.float32)
    for array in made:
        array.flags.writeable = False
    return made


@functools.lru_cache(maxsize=4)
def floats(count: int) -> NDArray[np.float32]:
    """Return 0, 1, 2, … in float32; read-only.

    >>> floats(3).tolist()
    [0.0, 1.0, 2.0]
    """
    made = np.arange(count, dtype=np.float32)
    made.flags.writeable = False
    return made


def widened(matrix: NDArray[Any], more: int) -> NDArray[Any]:
    """Return the same matrix with rows that lie `more` elements further apart.

    >>> widened(np.ones((2, 3), np.float32), 5).strides
    (32, 4)
    """
    if not more:
        return matrix
    if more < 0:
        raise CourseError(f"{more} elements cannot be added to a row: rows of a matrix do not overlap. Why: the leading dimension is "
                          "the distance from one row to the next, at least the number of columns")
    rows, cols = matrix.shape
    wide = np.full((rows, cols + more), np.nan, matrix.dtype)
    wide[:, :cols] = matrix
    return wide[:, :cols]


def alert(text: str) -> str:
    """Return a message as HTML that a screen reader announces.

    >>> alert("1 < 2")
    '<div role="alert" style="border-left:6px solid #D55E00;padding:6px 12px;max-width:760px;line-height:1.5">1 &lt; 2</div>'
    """
    body = html.escape(text).replace("\n", "<br>")
    style = "border-left:6px solid #D55E00;padding:6px 12px;max-width:760px;line-height:1.5"
    return f'<div role="alert" style="{style}">{body}</div>'
