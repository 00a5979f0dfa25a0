"""Kernels on a real NVIDIA GPU, through CuPy: find one that works, launch, measure.

This is the only package that imports CuPy, and it does so inside functions: without CuPy the package still
imports, and `probe` says in one sentence why there is no GPU to use.
"""

from course_lib.gpu.device import cupy, is_cupy, to_device, to_host
from course_lib.gpu.launch import GpuError, launch, load
from course_lib.gpu.library import library_version, time_copy, time_product
from course_lib.gpu.live import live_device
from course_lib.gpu.queue import Queue
from course_lib.gpu.status import GpuStatus, probe
from course_lib.gpu.timing import Timing, time_kernel

__all__ = ["GpuError", "GpuStatus", "Queue", "Timing", "cupy", "is_cupy", "launch", "library_version", "live_device", "load", "probe",
           "time_copy", "time_kernel", "time_product", "to_device", "to_host"]
