"""The kernels of the course: `.cu` files that stand alone, and a catalog that says how to launch each.

>>> get("sgemm_tiled").block(BM=16, BN=32)
(32, 16, 1)
"""

from course_lib.kernels.catalog import KERNELS, get
from course_lib.kernels.kernel import Kernel
from course_lib.kernels.parameters import Parameter, Rule
from course_lib.kernels.user import UserKernel

__all__ = ["KERNELS", "Kernel", "Parameter", "Rule", "UserKernel", "get"]
