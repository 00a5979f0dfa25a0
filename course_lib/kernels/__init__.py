"""The kernels of the course: `.cu` files, the `.cuh` files that several share, and a catalog that says how to launch each;
`.c` files for the CPU with a catalog of their own.

>>> get("sgemm_tiled").block(BM=16, BN=32)
(32, 16, 1)
"""

from course_lib.kernels.catalog import ALL, KERNELS, get
from course_lib.kernels.cpu import CPU_KERNELS, CpuKernel, cpu_kernel
from course_lib.kernels.cpu_user import own_program
from course_lib.kernels.kernel import Kernel
from course_lib.kernels.micro_user import own_chain
from course_lib.kernels.parameters import Parameter, Rule
from course_lib.kernels.user import UserKernel

__all__ = [
    "ALL", "CPU_KERNELS", "CpuKernel", "KERNELS", "Kernel", "Parameter", "Rule", "UserKernel", "cpu_kernel", "get", "own_chain",
    "own_program",
]
