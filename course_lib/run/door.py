"""The front door: choose a kernel and its parameters, give A and B, get one `RunResult`."""

import math
import os
from dataclasses import dataclass

import numpy as np

from course_lib import gpu, simt, toolchain
from course_lib.arch import DEFAULT_DEVICE, DEVICES, Device, device
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, UserKernel, get
from course_lib.kernels.user import is_source
from course_lib.model.occupancy import occupancy
from course_lib.run.inputs import Problem, problem
from course_lib.run.progress import shown
from course_lib.run.result import RunResult

BACKENDS = ("sim", "gpu")


def run(kernel, A, B, C=None, *, alpha=1.0, beta=0.0, backend=None, racecheck=False, trace=(), counters=True,
        device=None, warp_order="forward", progress=None, **parameters):
    """Compute C = alpha A B + beta C with one kernel, and tell what it did.

    Parameters
    ----------
    kernel : str, Kernel or Path
        A name of the catalog; or your own: a `UserKernel`, CUDA text, or the path of a `.cu` file.
    A, B, C : (M, K), (K, N), (M, N) arrays of the kernel's element type, mostly float32
        NumPy or CuPy. Rows may be padded (slices of wider arrays): the kernel then gets their stride as lda,
        ldb, ldc, and NaN between the rows. The given C is not changed. Without C the answer starts as NaN, so
        that an element which the kernel forgets, or reads although beta is 0, shows.
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
    values = kernel.check(**parameters)
    task = problem(A, B, C, alpha, beta, kernel.dtype)
    where = choose_backend(backend)
    target = _target(device, where)
    launch = _Launch(kernel, values, task, kernel.grid(task.M, task.N, **values), kernel.block(**values), target.arch)
    compiled = launch.compile()
    resources = _resources(compiled, kernel)
    fits = _fits(launch, resources, target.device)
    report, time, answer = None, None, None
    # The simulator goes first, also with a GPU: it stops a kernel that would leave its arrays or never end.
    if where == "sim" or counters or racecheck or trace:
        with shown(progress) as report_progress:
            report, answer = launch.simulate(racecheck=racecheck, trace=trace, warp_order=warp_order,
                                             progress=report_progress)
    if where == "gpu":
        time, answer = launch.measure(compiled)
    return RunResult(
        kernel=kernel, parameters=values, M=task.M, N=task.N, K=task.K, lda=task.A.ld, ldb=task.B.ld, ldc=task.C.ld,
        grid=launch.grid, block=launch.block, C=_as_given(task, answer), stray_writes=task.C.stray(answer),
        backend=where, label=target.label, time=time, resources=resources,
        occupancy=fits, device=target.device.name, **_observed(report, racecheck))


def resolve(kernel):
    """Return the `Kernel` that a name, CUDA text or a path stands for.

    >>> resolve("sgemm_naive").entry
    'sgemm_naive'
    """
    if isinstance(kernel, Kernel):
        return kernel
    return UserKernel.from_source(kernel) if is_source(kernel) else get(kernel)


def choose_backend(backend=None):
    """Return "gpu" or "sim": what is asked for, else COURSE_BACKEND, else a GPU when one works.

    Raises
    ------
    CourseError
        For another word, or with the reason why the GPU that is asked for cannot be used.

    >>> choose_backend("sim")
    'sim'
    """
    asked = backend if backend is not None else os.environ.get("COURSE_BACKEND") or None
    if asked is None:
        return "gpu" if gpu.probe().usable else "sim"
    source = "backend" if backend is not None else "the environment variable COURSE_BACKEND"
    if asked not in BACKENDS:
        raise CourseError(f"{source} is {asked!r}, but the backends are 'sim' and 'gpu'", backend=asked)
    if asked == "gpu" and not gpu.probe().usable:
        raise CourseError(f"{source} asks for the GPU, but it cannot be used: {gpu.probe().reason}. "
                          "Run with backend='sim'", backend=asked, reason=gpu.probe().reason)
    return asked


@dataclass(frozen=True)
class _Launch:
    """One launch, ready for either backend."""

    kernel: Kernel
    values: dict
    task: Problem
    grid: tuple
    block: tuple
    arch: str

    def compile(self):
        name = self.kernel.path.name if self.kernel.path else f"{self.kernel.name}.cu"
        return toolchain.compile_cuda(self.kernel.source, name=name, arch=self.arch,
                                      defines=self.kernel.defines(**self.values))

    def simulate(self, **options):
        """Return the simulator's report, and C's buffer as the kernel left it."""
        A, B, C = self.task.A.buffer, self.task.B.buffer, self.task.C.buffer.copy()
        report = simt.launch(self.kernel.source, self.kernel.entry, self.grid, self.block,
                             self.task.arguments(A, B, C), defines=self.kernel.defines(**self.values),
                             arch=self.arch, **options)
        return report, C

    def measure(self, compiled):
        """Return the time on the GPU, and C's buffer after a launch of its own."""
        A, B, C = (gpu.to_device(matrix.buffer) for matrix in (self.task.A, self.task.B, self.task.C))
        arguments = self.task.arguments(A, B, C)
        gpu.launch(compiled, self.kernel.entry, self.grid, self.block, arguments)
        answer = gpu.to_host(C)          # before timing, which runs the kernel on C again and again
        return gpu.time_kernel(compiled, self.kernel.entry, self.grid, self.block, arguments), answer


@dataclass(frozen=True)
class _Target:
    """What runs or is modelled: what to compile for, its row in the device table, how results are labelled."""

    arch: str
    device: Device
    label: str


def _target(name, where):
    """Choose the device: the one that is named, else the GPU that runs, else the default of the table."""
    if where == "gpu":
        status = gpu.probe()
        return _Target(status.arch, device(name) if name else _live(status), f"measured on {status.name}")
    chosen = device(name) if name else DEFAULT_DEVICE
    return _Target(_compiled_for(chosen), chosen, "simulated")


def _resources(compiled, kernel):
    found = toolchain.resources(compiled)
    if kernel.entry not in found:
        raise CourseError(f"the compiler left out the kernel {kernel.entry}: is it inside an #if that is not true?",
                          kernel=kernel.name, entry=kernel.entry)
    return found[kernel.entry]


def _fits(launch, resources, on):
    """Return the occupancy, or refuse a block of which not even one fits."""
    threads = math.prod(launch.block)
    found = occupancy(on, threads, resources.registers, resources.static_shared_bytes)
    if found.blocks == 0:
        raise CourseError(f"a block of {threads} threads with {resources.registers} registers each needs more than {on.name} "
                          f"has ({found.limiter}): take a smaller block", kernel=launch.kernel.name, limiter=found.limiter)
    return found


def _live(status):
    """Return the table's row of the GPU that runs, or of one with its compute capability, or the default."""
    by_name = [d for d in DEVICES.values() if d.name in (status.name, status.name.removeprefix("NVIDIA "))]
    by_cc = [d for d in DEVICES.values() if d.cc == status.cc]
    return next(iter(by_name + by_cc), DEFAULT_DEVICE)


def _compiled_for(chosen):
    """Return the architecture to compile for: the device's own, or the oldest that the compiler still knows."""
    number = 10 * chosen.cc[0] + chosen.cc[1]
    known = toolchain.supported_architectures()
    return f"sm_{number if number in known else min(known)}"


def _as_given(task, buffer):
    """Return C without padding in memory of its own, as CuPy when the reader gave CuPy."""
    answer = np.array(task.C.view(buffer), order="C")
    return gpu.to_device(answer) if task.cupy else answer


def _observed(report, racecheck):
    """Return the fields of a `RunResult` that the simulator fills."""
    if report is None:
        return {"counters": None, "counters_label": "", "lines": None, "level": None, "hazards": None,
                "trace": (), "arrays": (), "shared": ()}
    return {"counters": report.counters, "counters_label": "simulated", "lines": report.lines, "level": report.level,
            "hazards": report.hazards if racecheck else None,
            "trace": report.trace, "arrays": report.arrays, "shared": report.shared}
