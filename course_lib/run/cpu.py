"""Programs on the CPU: build one, run it, check its arrays, measure it."""

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.gpu import is_cupy
from course_lib.kernels import CpuKernel, cpu_kernel, own_program
from course_lib.kernels.cpu_user import is_c_source
from course_lib.kernels.python_ijk import python_ijk
from course_lib.run.cpu_result import CpuResult
from course_lib.run.inputs import Problem, problem
from course_lib.run.stopwatch import time_call
from course_lib.run.types import CpuKernelLike
from course_lib.toolchain.host import HostProgram

MOST_PYTHON = 2**27      # multiply-adds of the plain Python loop: about ten seconds
LIMIT_S = 60             # for the first run of the reader's own program


def run_cpu(kernel: CpuKernelLike, A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None, *, alpha: float = 1.0, beta: float = 0.0,
            timed: bool = True, budget_s: float = 1.0, **parameters: int) -> CpuResult:
    """Compute C = alpha A B + beta C with one program on this machine's CPU, and measure it.

    Parameters
    ----------
    kernel
        A name of the catalog (`course_lib.kernels.CPU_KERNELS`), or C text of your own: a function that takes what the
        catalog's take, or only loops with A(i, k), B(k, j), C(i, j). Your own program runs in a process of its own
        first, so that a wrong index ends that and not the notebook; one that prints runs only there, and is not timed.
    A, B, C
        (M, K), (K, N), (M, N) arrays, all float32 or all float64. Rows may be padded. The given C is not changed; without C
        the answer starts as NaN.
    timed
        False runs the program once and leaves `time` empty.
    budget_s
        About how long to measure.
    **parameters
        Block sizes and `threads`; the others keep their defaults. Threads are never guessed: the default is 1.

    Raises
    ------
    CourseError
        For wrong input, without a C compiler, when the program does not compile, or when it crashes.
    """
    kernel = resolve_cpu(kernel)
    values = kernel.check(**parameters)
    if any(is_cupy(array) for array in (A, B, C)):
        raise CourseError("a program on the CPU takes NumPy arrays: give A.get()")
    dtype = "float64" if getattr(A, "dtype", None) == np.float64 else "float32"
    task = problem(A, B, C, alpha, beta, dtype)
    before = task.C.buffer.copy()
    call, built, setting = _prepare(kernel, values, task, dtype)

    def put_back():
        task.C.buffer[:] = before

    with setting:
        call()
        answer = task.C.buffer.copy()
        put_back()
        timed = timed and not built["printed"]
        timing = time_call(call, put_back if beta != 0 else None, budget_s=budget_s) if timed else None
    return CpuResult(
        kernel=kernel, parameters=values, dtype=dtype, M=task.M, N=task.N, K=task.K, lda=task.A.ld, ldb=task.B.ld,
        ldc=task.C.ld, C=np.array(task.C.view(answer), order="C"), stray_writes=task.C.stray(answer),
        label=f"measured on {toolchain.cpu_name()}", time=timing, **built)


def resolve_cpu(kernel: CpuKernelLike) -> CpuKernel:
    """Return the `CpuKernel` that a name or C text stands for.

    >>> resolve_cpu("gemm_ikj").order
    'ikj'
    """
    if isinstance(kernel, CpuKernel):
        return kernel
    return own_program(kernel) if is_c_source(kernel) else cpu_kernel(kernel)


def build_cpu(kernel: CpuKernel, dtype: str = "float32", **parameters: int) -> HostProgram:
    """Compile a program of the catalog or the reader's own."""
    return toolchain.compile_c(kernel.source, name=name_of(kernel),
                               defines=kernel.defines(dtype, **parameters), openmp=kernel.openmp,
                               as_written=kernel.as_written, texts=kernel.texts or None)


def name_of(kernel: CpuKernel) -> str:
    """Return what messages call a program's text."""
    return next(iter(kernel.texts), "") or (kernel.path.name if kernel.path else kernel.name)


def _prepare(kernel: CpuKernel, values: dict[str, int], task: Problem,
             dtype: str) -> tuple[Callable[[], object], dict[str, Any], AbstractContextManager]:
    """Return (callable, what to tell about how it was made, context in which it must run)."""
    A, B, C = (matrix.view() for matrix in (task.A, task.B, task.C))
    threads = values.get("threads")
    if kernel.kind == "python":
        return _python(task, A, B, C), _built(f"Python {platform.python_version()}"), nullcontext()
    if kernel.kind == "library":
        with toolchain.blas_threads(values["threads"]) as library:
            told = _built(f"NumPy {np.__version__}, {library}", library.threads)
        return _library(task, A, B, C), told, toolchain.blas_threads(values["threads"])
    program = build_cpu(kernel, dtype, **values)
    printed = ""
    if kernel.text is not None:
        printed, answer = _try_in_process(kernel, program, task, threads)
        if printed:
            return lambda: task.C.buffer.__setitem__(slice(None), answer), _built(program.compiler, threads or 1,
                                                                                 program.warnings, printed), nullcontext()
    call = toolchain.gemm_call(program, kernel.entry, A, B, C, float(task.alpha), float(task.beta), threads, kernel.returns_status)
    return call, _built(program.compiler, threads or 1, program.warnings, printed), nullcontext()


def _built(by: str, threads: int | None = 1, warnings: tuple = (), printed: str = "") -> dict[str, Any]:
    return {"built_by": by, "threads": threads, "warnings": warnings, "printed": printed}


def _try_in_process(kernel: CpuKernel, program: HostProgram, task: Problem, threads: int | None) -> tuple[str, np.ndarray]:
    """Run the reader's own program once where it can do no harm; return what it printed, and C's buffer."""
    buffers = [matrix.buffer.copy() for matrix in (task.A, task.B, task.C)]
    A, B, C = (matrix.view(buffer) for matrix, buffer in zip((task.A, task.B, task.C), buffers, strict=True))
    kinds, values = toolchain.gemm_arguments(A, B, C, float(task.alpha), float(task.beta), threads)
    where = iter(buffers)
    values = [next(where) if kind == "array" else value for kind, value in zip(kinds, values, strict=True)]
    _, printed = toolchain.call_in_subprocess(program, kernel.entry, kinds, values, status=kernel.returns_status, limit_s=LIMIT_S)
    return printed, buffers[2]


def _python(task: Problem, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> Callable[[], None]:
    if task.M * task.N * task.K > MOST_PYTHON:
        raise CourseError(f"plain Python would take minutes for {task.M} × {task.N} × {task.K}: take N up to 512")
    a, b = A.tolist(), B.tolist()

    def call():
        rows = C.tolist()
        python_ijk(task.M, task.N, task.K, float(task.alpha), a, b, float(task.beta), rows)
        C[...] = rows

    return call


def _library(task: Problem, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> Callable[[], None]:
    def call():
        if task.alpha == 1 and task.beta == 0:
            np.matmul(A, B, out=C)
        elif task.beta == 0:
            C[...] = task.alpha * (A @ B)
        else:
            C[...] = task.alpha * (A @ B) + task.beta * C

    return call
