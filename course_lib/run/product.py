"""Compute one matrix product: choose a kernel and its parameters, give A and B, get one `RunResult`."""

import numpy as np

from course_lib import gpu
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, UserKernel, get
from course_lib.kernels.user import is_source
from course_lib.run.inputs import problem
from course_lib.run.launch import KernelLaunch, execute
from course_lib.run.result import RunResult

OUTPUT = 9     # C among SGEMM's arguments


def run(kernel, A, B, C=None, *, alpha=1.0, beta=0.0, backend=None, racecheck=False, trace=(), counters=True,
        device=None, warp_order="forward", progress=None, **parameters):
    """Compute C = alpha A B + beta C with one kernel, and tell what it did.

    Parameters
    ----------
    kernel : str, Kernel or Path
        A name of the catalog; or your own: a `UserKernel`, CUDA text, or the path of a `.cu` file.
    A, B, C : (M, K), (K, N), (M, N) arrays of the kernel's element type, mostly float32
        NumPy or CuPy; a kernel with TRANSA = 1 takes A as (K, M), with TRANSB = 1 B as (N, K).
        A column-major kernel gets them by columns, copied where they are not.
        Rows may be padded (slices of wider arrays): the kernel then gets their stride as lda, ldb, ldc, and NaN
        between the rows. The given C is not changed. Without C the answer starts as NaN, so that an element which
        the kernel forgets, or reads although beta is 0, shows.
    alpha, beta : float
    backend : "sim", "gpu" or None
        None takes the environment variable COURSE_BACKEND, or else a GPU when one works, or else the simulator.
    racecheck : bool
        Look for races in shared memory.
    trace : iterable of ((bx, by, bz) or block index, warp index)
        Warps whose every step is recorded.
    counters : bool
        On a GPU, False skips the simulated run that gives the counters: wanted when N is in the thousands.
        On the simulator the counters are always there.
    device : str, optional
        The device whose occupancy is computed; default the GPU that runs, or the H200.
    warp_order : "forward", "reverse", "interleaved" or int
        In which order the simulator runs the warps of a block; a kernel with all its barriers gives the same answer.
    progress : callable or bool, optional
        Called with (blocks done, blocks in all) by the simulator; True draws a bar when it takes long.
    **parameters : int
        Block or tile sizes, `BM=16`; the others keep their defaults.

    Returns
    -------
    RunResult

    Raises
    ------
    CourseError
        For everything that a reader can get wrong, one sentence that names the value and what would be right.
    """
    kernel = resolve(kernel)
    if kernel.kind != "product":
        raise CourseError(f"{kernel.name} does not multiply matrices; run_{kernel.kind} runs it", kernel=kernel.name)
    values = kernel.check(**parameters)
    task = problem(A, B, C, alpha, beta, kernel.dtype, tuple(bool(values.get(t, 0)) for t in ("TRANSA", "TRANSB")), kernel.layout)
    if wrong := kernel.sizes_of(task.M, task.N, task.K, values):
        raise CourseError(f"{kernel.name}: {wrong}", kernel=kernel.name, M=task.M, N=task.N, K=task.K)
    job = KernelLaunch(kernel, values, task.arguments(task.A.buffer, task.B.buffer, task.C.buffer), (OUTPUT,),
              kernel.grid(task.M, task.N, **values), kernel.block(**values))
    done = execute(job, backend=backend, racecheck=racecheck, trace=trace, counters=counters, device=device,
                   warp_order=warp_order, progress=progress)
    answer, = done.outputs
    return RunResult(M=task.M, N=task.N, K=task.K, lda=task.A.ld, ldb=task.B.ld, ldc=task.C.ld, C=_as_given(task, answer),
                     stray_writes=task.C.stray(answer), **done.facts)


def resolve(kernel):
    """Return the `Kernel` that a name, CUDA text or a path stands for.

    >>> resolve("sgemm_naive").entry
    'sgemm_naive'
    """
    if isinstance(kernel, Kernel):
        return kernel
    return UserKernel.from_source(kernel) if is_source(kernel) else get(kernel)


def _as_given(task, buffer):
    """Return C without padding in memory of its own, as CuPy when the reader gave CuPy."""
    there = task.C.view(buffer)
    answer = np.array(there.T if task.column else there, order="C")
    return gpu.to_device(answer) if task.cupy else answer
