"""The GPU of this machine as an entry of the device table, read from its driver."""

from typing import Any

from course_lib.arch import LIMITS, UNITS, Device
from course_lib.errors import CourseError

# cudaDeviceAttr of "CUDA Runtime API", which newer toolkits keep although the properties of the same name are gone.
CLOCK_KHZ, SMS, MEMORY_KHZ, BUS_BITS, L2_BYTES, MAJOR, MINOR = 13, 16, 36, 37, 38, 75, 76


def live_device(runtime: Any = None, number: int = 0) -> Device:
    """Return the Device that this machine has, with the figures that its driver reports.

    Parameters
    ----------
    runtime
        What answers `deviceGetAttribute` and `getDeviceProperties`; default CuPy's.
    number
        Of the GPU in its machine.

    Returns
    -------
    The clock is the highest that the driver allows, the bandwidth two transfers of the bus a memory clock.

    Raises
    ------
    CourseError
        When there is no CuPy or no GPU, or the compute capability is not in the table.
    """
    try:
        if runtime is None:
            import cupy

            runtime = cupy.cuda.runtime

        def ask(attribute):
            return int(runtime.deviceGetAttribute(attribute, number))
        cc = ask(MAJOR), ask(MINOR)
        name = runtime.getDeviceProperties(number)["name"].decode()
        clock, memory, bus, sms, l2 = (ask(what) for what in (CLOCK_KHZ, MEMORY_KHZ, BUS_BITS, SMS, L2_BYTES))
    except (ImportError, RuntimeError, OSError) as error:           # CuPy's own are RuntimeErrors
        raise CourseError(f"there is no GPU to report on: {error}") from None
    if cc not in UNITS:
        raise CourseError(f"{name} has compute capability {cc[0]}.{cc[1]}, and the table has "
                          f"{', '.join(f'{a}.{b}' for a, b in LIMITS)}", name=name, cc=cc)
    single, double = UNITS[cc]
    return Device(name, cc, sms, single, clock / 1e3, memory * 1e3 * 2 * bus / 8 / 1e9, l2, double / single,
                  "as its NVIDIA driver reports it; units of an SM from the CUDA C++ Programming Guide")
