"""Carry out one launch of any kernel of the course, on either backend."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib import gpu, simt, toolchain
from course_lib.arch import DEFAULT_DEVICE, DEVICES, Device, device
from course_lib.errors import CourseError
from course_lib.gpu import Timing
from course_lib.gpu.status import GpuStatus
from course_lib.kernels import Kernel
from course_lib.model.occupancy import Occupancy, occupancy
from course_lib.run.progress import shown
from course_lib.run.types import Argument, Extent, Progress, TracedWarps
from course_lib.tensor_maps import TensorMap
from course_lib.toolchain.compiled import Compiled
from course_lib.toolchain.resources import Resources

BACKENDS = ("sim", "gpu")
OPTIONS = ("backend", "racecheck", "trace", "counters", "device", "warp_order", "progress")    # of `execute`


@dataclass(frozen=True)
class KernelLaunch:
    """A kernel with everything that a launch needs.

    Attributes
    ----------
    values
        Its parameters, checked.
    arguments
        One for each parameter of the kernel. The arrays are not changed.
    outputs
        Which of the arguments the kernel writes.
    constants
        Arrays for the `__constant__` variables of the source, by name.
    """

    kernel: Kernel
    values: dict[str, int]
    arguments: tuple[Argument, ...]
    outputs: tuple[int, ...]
    grid: Extent
    block: Extent
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """The arrays that a launch wrote, and what a `LaunchResult` says about it."""

    outputs: tuple[np.ndarray, ...]
    facts: dict[str, Any]


def take_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `execute` from a dict and return them; the kernel's parameters stay.

    >>> options = {"backend": "sim", "TILE": 16}
    >>> take_options(options), options
    ({'backend': 'sim'}, {'TILE': 16})
    """
    return {name: options.pop(name) for name in OPTIONS if name in options}


def execute(job: KernelLaunch, *, backend: str | None = None, racecheck: bool = False, trace: TracedWarps = (), counters: bool = True,
            device: str | None = None, warp_order: str | int = "forward", progress: Progress = None) -> Done:
    """Launch a kernel; the options are those of `run`."""
    where = choose_backend(backend)
    target = _target(device, where)
    job.kernel.refuse(target.device.cc, target.device.name)
    compiled = _compile(job, target.arch)
    resources = _resources(compiled, job.kernel)
    fits = _fits(job, resources, target.device)
    report, time = None, None
    outputs: tuple[np.ndarray, ...] = ()
    # The simulator goes first, also with a GPU: it stops a kernel that would leave its arrays or never end.
    if where == "sim" or counters or racecheck or trace:
        with shown(progress) as report_progress:
            report, outputs = _simulate(job, target.arch, racecheck=racecheck, trace=trace, warp_order=warp_order,
                                        progress=report_progress)
    if where == "gpu":
        time, outputs = _measure(job, compiled)
    facts = {"kernel": job.kernel, "parameters": job.values, "grid": job.grid, "block": job.block, "backend": where,
             "label": target.label, "time": time, "resources": resources, "occupancy": fits, "device": target.device.name}
    return Done(outputs, facts | observed(report, racecheck))


def choose_backend(backend: str | None = None) -> str:
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


def _compile(job: KernelLaunch, arch: str) -> Compiled:
    name = job.kernel.path.name if job.kernel.path else f"{job.kernel.name}.cu"
    return toolchain.compile_cuda(job.kernel.source, name=name, arch=arch, defines=job.kernel.defines(**job.values))


def _fresh(job: KernelLaunch, move: Callable[[np.ndarray], Any] = np.asarray) -> list[Any]:
    """Return the arguments with copies of the arrays that the kernel writes; `move` brings those that it writes by a map to the device."""
    return [a if i not in job.outputs else _copied(a, move) if isinstance(a, TensorMap) else a.copy() for i, a in enumerate(job.arguments)]


def _copied(given: TensorMap, move: Callable[[np.ndarray], Any]) -> TensorMap:
    """Return the map of a copy, whose rows are as far apart."""
    rows, cols = given.array.shape
    room = np.zeros((rows, given.array.strides[0] // given.array.itemsize), given.array.dtype)
    room[:, :cols] = given.array
    return replace(given, array=move(room)[:, :cols])


def _written(job: KernelLaunch, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arrays among a launch's arguments that the kernel writes."""
    written = (arguments[i] for i in job.outputs)
    return tuple(x.array if isinstance(x, TensorMap) else x for x in written)


def _simulate(job: KernelLaunch, arch: str, **options: Any) -> tuple[simt.Report, tuple[np.ndarray, ...]]:
    """Return the simulator's report, and the arrays as the kernel left them."""
    arguments = _fresh(job)
    report = simt.launch(job.kernel.source, job.kernel.entry, job.grid, job.block, arguments,
                         defines=job.kernel.defines(**job.values), constants=job.constants, arch=arch,
                         dynamic_shared=job.kernel.dynamic_bytes(**job.values), **options)
    return report, _written(job, arguments)


def _measure(job: KernelLaunch, compiled: Compiled) -> tuple[Timing, tuple[np.ndarray, ...]]:
    """Return the time on the GPU, and the arrays after a launch of its own."""
    arguments = [gpu.to_device(a) if isinstance(a, np.ndarray) else a for a in _fresh(job, gpu.to_device)]
    shape = (compiled, job.kernel.entry, job.grid, job.block, arguments)
    more: dict[str, Any] = {"constants": job.constants, "dynamic_shared": job.kernel.dynamic_bytes(**job.values)}
    gpu.launch(*shape, **more)
    outputs = tuple(map(gpu.to_host, _written(job, arguments)))      # before timing, which runs the kernel again and again
    return gpu.time_kernel(*shape, **more), outputs


@dataclass(frozen=True)
class _Target:
    """What runs or is modelled: what to compile for, its row in the device table, how results are labelled."""

    arch: str
    device: Device
    label: str


def _target(name: str | None, where: str) -> _Target:
    """Choose the device: the one that is named, else the GPU that runs, else the default of the table."""
    if where == "gpu":
        status = gpu.probe()
        return _Target(status.arch, device(name) if name else _live(status), f"measured on {status.name}")
    chosen = device(name) if name else DEFAULT_DEVICE
    return _Target(_compiled_for(chosen), chosen, "simulated")


def simulated_arch() -> str:
    """Return the architecture that a kernel is compiled for when the simulator runs it on the default device."""
    return _target(None, "sim").arch


def _resources(compiled: Compiled, kernel: Kernel) -> Resources:
    found = toolchain.resources(compiled)
    if kernel.entry not in found:
        raise CourseError(f"the compiler left out the kernel {kernel.entry}: is it inside an #if that is not true?",
                          kernel=kernel.name, entry=kernel.entry)
    return found[kernel.entry]


def _fits(job: KernelLaunch, resources: Resources, on: Device) -> Occupancy:
    """Return the occupancy, or refuse a block of which not even one fits."""
    threads = math.prod(job.block)
    shared = resources.static_shared_bytes + job.kernel.dynamic_bytes(**job.values)
    found = occupancy(on, threads, resources.registers, shared)
    if found.blocks == 0:
        raise CourseError(f"a block of {threads} threads with {resources.registers} registers each needs more than {on.name} "
                          f"has ({found.limiter}): take a smaller block", kernel=job.kernel.name, limiter=found.limiter)
    return found


def _live(status: GpuStatus) -> Device:
    """Return the table's row of the GPU that runs, or of one with its compute capability, or the default."""
    by_name = [d for d in DEVICES.values() if d.name in (status.name, status.name.removeprefix("NVIDIA "))]
    by_cc = [d for d in DEVICES.values() if d.cc == status.cc]
    return next(iter(by_name + by_cc), DEFAULT_DEVICE)


def _compiled_for(chosen: Device) -> str:
    """Return the architecture to compile for: the device's own, or the oldest that the compiler still knows."""
    number = 10 * chosen.cc[0] + chosen.cc[1]
    known = toolchain.supported_architectures()
    return f"sm_{number if number in known else min(known)}"


def observed(report: simt.Report | None, racecheck: bool) -> dict[str, Any]:
    """Return the fields of a `LaunchResult` that the simulator fills."""
    if report is None:
        return {"counters": None, "counters_label": "", "lines": None, "level": None, "hazards": None, "meetings": (),
                "lost_alignments": (), "stray_shuffles": (), "products": (), "async_findings": (), "pipeline": None,
                "trace": (), "arrays": (), "shared": ()}
    return {"counters": report.counters, "counters_label": "simulated", "lines": report.lines, "level": report.level,
            "hazards": report.all_hazards if racecheck else None, "meetings": report.meetings,
            "lost_alignments": report.lost_alignments, "stray_shuffles": report.stray_shuffles,
            "products": report.products, "async_findings": report.async_findings, "pipeline": report.pipeline,
            "trace": report.trace, "arrays": report.arrays, "shared": report.shared}
