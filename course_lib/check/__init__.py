"""What is wrong with a kernel: the inputs it is tried on, how a result is judged, what a reader is told.

    from course_lib.check import check
    check(my_kernel)
"""

from course_lib.check.checking import check
from course_lib.check.finding import Finding
from course_lib.check.report import CheckReport

__all__ = [
    "CheckReport", "Finding", "check",
]
