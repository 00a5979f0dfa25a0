"""The catalog of all kernels: `get(name)` finds one, `KERNELS` holds those that multiply matrices, `ALL` every one."""

from course_lib.errors import CourseError
from course_lib.kernels import bf16, chien, copies, dmma, ladder, micro, mxv, stages, tensor, wang, wong
from course_lib.kernels.cpu import CPU_KERNELS
from course_lib.kernels.kernel import Kernel, close_names, find_named

FAMILIES = (ladder, wang, wong, chien, tensor, bf16, dmma, stages, mxv, copies, micro)
ALL = {kernel.name: kernel for family in FAMILIES for kernel in family.kernels()}
KERNELS = {name: kernel for name, kernel in ALL.items() if kernel.kind == "product"}


def get(name: str) -> Kernel:
    """Return the kernel of that name.

    Raises
    ------
    CourseError
        Names the kernels that come close, or all of them.

    >>> get("sgemm_naive").idea
    'a thread per element, everything from global memory'
    """
    if found := find_named(name, ALL):
        return found
    if find_named(name, CPU_KERNELS):
        raise CourseError(f"{name} is a program for the CPU: run it with run_cpu({name!r}, A, B)", kernel=name)
    close = close_names(name, list(ALL)) or f": the kernels are {', '.join(KERNELS)}"
    raise CourseError(f"there is no kernel {name!r}{close}", kernel=name)
