"""The roofs of this machine's CPU, measured: multiply-adds a second, and bytes a second from each size of working set."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.gpu import Timing
from course_lib.kernels.cpu import FOLDER
from course_lib.run.stopwatch import time_call
from course_lib.toolchain.host_call import REALS

CHAINS = 12
VECTORS = (16, 32, 64)              # bytes; which is fastest is found out
ROUNDS = 200_000                    # of multiply-adds in a sample
SIZES_KIB = (24, 384, 6144, 98304)  # within a usual L1, L2 and L3 cache, and beyond them


@dataclass(frozen=True)
class CpuPeak:
    """What a CPU can do at most.

    Attributes
    ----------
    dtype : str
    threads : int
    gflops : float
        10**9 floating-point operations a second, two for each multiply-add.
    vector : int
        Bytes of the vectors that reached it.
    bandwidth : dict
        KiB that each thread reads again and again -> 10**9 bytes a second, of all threads together.
    label : str
        "measured on <CPU>".
    """

    dtype: str
    threads: int
    gflops: float
    vector: int
    bandwidth: dict[int, float] = field(repr=False)
    label: str

    def bound(self, flops_per_byte, size_kib=SIZES_KIB[-1]):
        """Return the roofline: GFLOP/s at most for so many operations a byte, read from a working set of that size.

        >>> CpuPeak("float32", 1, 100.0, 32, {98304: 20.0}, "").bound(0.5)
        10.0
        """
        return min(self.gflops, flops_per_byte * self.bandwidth[size_kib])


def cpu_peak(dtype="float32", *, threads=1, sizes_kib=SIZES_KIB, budget_s=0.2):
    """Measure the roofs of this CPU.

    Parameters
    ----------
    dtype : "float32" or "float64"
    threads : int
        How many compute, or read, at once; each has its own data.
    sizes_kib : sequence of int
        Working sets of each thread, in KiB.
    budget_s : float
        About how long each measurement takes; there are 3 and one for each size.

    Returns
    -------
    CpuPeak

    Raises
    ------
    CourseError
        Without a C compiler.
    """
    if dtype not in REALS:
        raise CourseError(f"dtype = {dtype!r}: it must be 'float32' or 'float64'")
    if threads < 1:
        raise CourseError(f"threads = {threads}: at least one must compute")
    with ThreadPoolExecutor(threads) as pool:
        gflops, vector = max((_compute(pool, threads, dtype, vector, budget_s), vector) for vector in VECTORS)
        bandwidth = {size: _read(pool, threads, dtype, vector, size, budget_s) for size in sizes_kib}
    return CpuPeak(dtype, threads, gflops, vector, bandwidth, f"measured on {toolchain.cpu_name()}")


def _program(dtype, vector):
    return toolchain.compile_c((FOLDER / "peak.h").read_text(encoding="utf-8"), name="peak.h",
                               defines={"REAL": {"float32": "float", "float64": "double"}[dtype], "VB": vector})


def _all(pool, threads, work):
    """Return a callable that lets every thread do its work and waits; C runs without Python's lock."""
    return lambda: list(pool.map(work, range(threads)))


def _compute(pool, threads, dtype, vector, budget_s):
    real, lanes = REALS[dtype], vector // np.dtype(dtype).itemsize
    function = _program(dtype, vector).function("multiply_add", ctypes.c_longlong, real, real, ctypes.c_void_p)
    out = np.ones((threads, CHAINS * lanes), dtype)
    timing = time_call(_all(pool, threads, lambda t: function(ROUNDS, 0.5, 0.5, out[t].ctypes.data)), budget_s=budget_s)
    return 2 * ROUNDS * out.size / _best(timing) / 1e9


def _read(pool, threads, dtype, vector, size_kib, budget_s):
    unit = CHAINS * vector
    elements = max(1, size_kib * 1024 // unit) * unit // np.dtype(dtype).itemsize
    again = max(1, (32 << 20) // (elements * np.dtype(dtype).itemsize))      # a sample reads 32 MiB at least
    function = _program(dtype, vector).function("read_all", ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p,
                                                ctypes.c_void_p)
    data, out = np.ones((threads, elements), dtype), np.empty((threads, unit // np.dtype(dtype).itemsize), dtype)

    timing = time_call(_all(pool, threads, lambda t: function(again, elements, data[t].ctypes.data, out[t].ctypes.data)),
                       budget_s=budget_s)
    return again * data.nbytes / _best(timing) / 1e9


def _best(timing: Timing):
    """Return the time of the lower quartile: a roof is what the machine can do when nothing disturbs it."""
    return timing.low_s
