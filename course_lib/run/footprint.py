"""What a kernel takes from a multiprocessor, and how much of it fits there: compiled, not run."""

import math
from dataclasses import dataclass

from course_lib import toolchain
from course_lib.arch import DEFAULT_DEVICE, Device, device
from course_lib.model.occupancy import Occupancy, occupancy
from course_lib.run.product import resolve
from course_lib.run.types import KernelLike
from course_lib.toolchain.resources import Resources


@dataclass(frozen=True)
class Footprint:
    """What one block of a kernel takes on one device.

    Attributes
    ----------
    threads
        Of a block.
    resources
        From the machine code.
    occupancy
        Modelled; 0 blocks when not even one fits.
    """

    threads: int
    resources: Resources
    occupancy: Occupancy


def footprint(kernel: KernelLike, *, on: str | Device = DEFAULT_DEVICE, **parameters: int) -> Footprint:
    """Compile a kernel for a device and tell what a block takes of it.

    Parameters
    ----------
    kernel
        As for `run`.
    on
        A name of the device table, or an entry of it.
    **parameters
        Block or tile sizes; the others keep their defaults.

    Raises
    ------
    CourseError
        For a kernel, a parameter or a device that is not known, a rule that is broken, or a device that the compiler no longer knows.

    Source: the cubin (`course_lib.toolchain.resources`), and `course_lib.model.occupancy`.

    >>> taken = footprint("sgemm_tiled", BM=16, BN=16, BK=16)
    >>> taken.threads, taken.resources.static_shared_bytes, taken.resources.spill_store_bytes
    (256, 2048, 0)
    """
    kernel = resolve(kernel)
    on = on if isinstance(on, Device) else device(on)
    kernel.refuse(on.cc, on.name)
    threads = math.prod(kernel.block(**parameters))
    compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name,
                                      arch=f"sm_{on.cc[0]}{on.cc[1]}", defines=kernel.defines(**parameters))
    used = toolchain.resources(compiled)[kernel.entry]
    shared = used.static_shared_bytes + kernel.dynamic_bytes(**parameters)
    return Footprint(threads, used, occupancy(on, threads, used.registers, shared))
