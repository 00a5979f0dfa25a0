"""What kernels take from a multiprocessor, as Koppelman's homework lists it."""

from course_lib import kernels
from course_lib.arch import DEFAULT_DEVICE, Device, device
from course_lib.errors import CourseError
from course_lib.model.occupancy import max_threads
from course_lib.run import footprint
from course_lib.run.table import Table

HEADER = ("kernel", "shared", "const", "local", "registers", "max threads", "threads", "warps an SM", "limited by")


def kernel_resources(*names: str, on: str | Device = DEFAULT_DEVICE, **parameters: int) -> Table:
    """Set side by side what kernels of the catalog take, compiled for one device.

    Parameters
    ----------
    *names
        Kernels of the catalog; default all that multiply matrices and that the device can run.
    **parameters
        Tile sizes and the like; each kernel takes those that it has, and keeps its defaults for the rest.

    Returns
    -------
    Table
        Shared memory of a block, constants, local memory of a thread (all in bytes), registers of a thread, the most threads
        that a block of this kernel may have, the threads that it is launched with, and the occupancy that follows.

    Raises
    ------
    CourseError
        For a name that the catalog does not have, a parameter that no kernel here has or that cannot be, or a device that
        the compiler no longer knows.

    Source: the cubin (`course_lib.toolchain.resources`), and `course_lib.model.occupancy` for the last two columns.
    """
    on = on if isinstance(on, Device) else device(on)
    chosen = [kernels.get(name) for name in names] or [kernel for kernel in kernels.KERNELS.values() if kernel.runs_on(on.cc)]
    known = {p.name for kernel in chosen for p in kernel.parameters}
    if unknown := sorted(set(parameters) - known):
        raise CourseError(f"{', '.join(unknown)} is no parameter of {', '.join(k.name for k in chosen)}")
    rows = [_row(kernel, on, {n: v for n, v in parameters.items() if n in {p.name for p in kernel.parameters}}) for kernel in chosen]
    return Table(HEADER, rows, f"Kernel resources, {on.name}; shared, const, local in bytes")


def _row(kernel, on, parameters):
    taken = footprint(kernel, on=on, **parameters)
    used = taken.resources
    most = max_threads(on, used.registers, used.static_shared_bytes)
    most = min(most, used.max_threads or most)
    return (kernel.name, used.static_shared_bytes, used.constant_bytes, used.local_bytes, used.registers, most,
            taken.threads, taken.occupancy.warps, taken.occupancy.limiter)
