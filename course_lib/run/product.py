"""Compute one matrix product: choose a kernel and its parameters, give A and B, get one `RunResult`."""

from pathlib import Path

import numpy as np

from course_lib import gpu
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, UserKernel, get
from course_lib.kernels.user import is_source
from course_lib.run.inputs import Problem, problem
from course_lib.run.launch import KernelLaunch, execute
from course_lib.run.result import RunResult
from course_lib.run.types import Array, KernelLike, Progress, TracedWarps

OUTPUT, OUTPUT_WITH_MAPS, OUTPUT_BY_MAP = 9, 7, 6        # C among SGEMM's arguments


def run(kernel: KernelLike, A: Array, B: Array, C: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
        backend: str | None = None, racecheck: bool = False, trace: TracedWarps = (), counters: bool = True, device: str | None = None,
        warp_order: str | int = "forward", progress: Progress = None, **parameters: int) -> RunResult:
    """Compute C = alpha A B + beta C with one kernel, and tell what it did.

    Parameters
    ----------
    kernel
        A name of the catalog; or your own: a `UserKernel`, CUDA text, or the path of a `.cu` file.
    A, B, C
        (M, K), (K, N), (M, N) arrays of the kernel's element type, mostly float32, NumPy or CuPy;
        a kernel with TRANSA = 1 takes A as (K, M), with TRANSB = 1 B as (N, K).
        A column-major kernel gets them by columns, copied where they are not. A kernel whose A and B are stored as bfloat16 takes their
        bits as uint16, `to_bf16(A)`; from float32 they are rounded before it starts. The same holds for FP8, `to_e4m3(A)`, as uint8. Where
        C is stored as bfloat16, the answer has its bits (`from_bf16`), and neither C nor beta is given.
        Rows may be padded (slices of wider arrays): the kernel then gets their stride as lda, ldb, ldc, and NaN
        between the rows. The given C is not changed. Without C the answer starts as NaN, so that an element which
        the kernel forgets, or reads although beta is 0, shows.
    backend
        "sim" or "gpu". None takes the environment variable COURSE_BACKEND, or else a GPU when one works, or else the simulator.
    racecheck
        Look for races in shared memory.
    trace
        Warps whose every step is recorded: ((bx, by, bz) or block index, warp index).
    counters
        On a GPU, False skips the simulated run that gives the counters: wanted when N is in the thousands.
        On the simulator the counters are always there.
    device
        The device whose occupancy is computed; default the GPU that runs, or the H200.
    warp_order
        In which order the simulator runs the warps of a block: "forward", "reverse", "interleaved" or a seed;
        a kernel with all its barriers gives the same answer.
    progress
        Called with (blocks done, blocks in all) by the simulator; True draws a bar when it takes long.
    **parameters
        Block or tile sizes, `BM=16`; the others keep their defaults.

    Raises
    ------
    CourseError
        For everything that a reader can get wrong, one sentence that names the value and what would be right.
    """
    kernel = resolve(kernel)
    if kernel.kind != "product":
        raise CourseError(f"{kernel.name} does not multiply matrices; run_{kernel.kind} runs it", kernel=kernel.name)
    values = kernel.check(**parameters)
    task = problem(A, B, C, alpha, beta, kernel.dtype, (bool(values.get("TRANSA")), bool(values.get("TRANSB"))), kernel.layout,
                   kernel.stored, kernel.boxes, kernel.result)
    for wrong in (kernel.sizes_of(task.M, task.N, task.K, values), kernel.strides_of(task.A.ld, task.B.ld, task.C.ld, values)):
        if wrong:
            raise CourseError(f"{kernel.name}: {wrong}", kernel=kernel.name, M=task.M, N=task.N, K=task.K)
    workspace = (np.zeros(count, dtype) for dtype, count in kernel.workspace(**values))
    job = KernelLaunch(kernel, values, (*task.arguments(task.A.buffer, task.B.buffer, task.C.buffer), *workspace),
                       (OUTPUT_BY_MAP if kernel.result else OUTPUT_WITH_MAPS if kernel.boxes else OUTPUT,),
                       kernel.grid(task.M, task.N, **values), kernel.block(**values))
    done = execute(job, backend=backend, racecheck=racecheck, trace=trace, counters=counters, device=device,
                   warp_order=warp_order, progress=progress)
    answer, = done.outputs
    return RunResult(M=task.M, N=task.N, K=task.K, lda=task.A.ld, ldb=task.B.ld, ldc=task.C.ld, C=_as_given(task, answer),
                     stray_writes=task.C.stray(answer), **done.facts)


def resolve(kernel: KernelLike) -> Kernel:
    """Return the `Kernel` that a name, CUDA text or a path stands for.

    >>> resolve("sgemm_naive").entry
    'sgemm_naive'
    """
    if isinstance(kernel, Kernel):
        return kernel
    return UserKernel.from_source(kernel) if isinstance(kernel, Path) or is_source(kernel) else get(kernel)


def _as_given(task: Problem, buffer: np.ndarray) -> Array:
    """Return C without padding in memory of its own, as CuPy when the reader gave CuPy."""
    there = buffer if buffer.ndim == 2 else task.C.view(buffer)         # what a map has stored is a matrix already
    answer = np.array(there.T if task.column else there, order="C")
    return gpu.to_device(answer) if task.cupy else answer
