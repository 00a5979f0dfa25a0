"""The roofs of this machine's CPU, measured: multiply-adds a second, and bytes a second from each size of working set."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.kernels.cpu import FOLDER
from course_lib.run.stopwatch import fastest
from course_lib.toolchain.host import HostProgram
from course_lib.toolchain.host_call import REALS

CHAINS = (12, 24)                   # multiply-adds under way; which is fastest is found out
VECTORS = (16, 32, 64)              # bytes; the same
ROUNDS = 200_000                    # of multiply-adds in a sample
SIZES_KIB = (24, 384, 6144, 98304)  # within a usual L1, L2 and L3 cache, and beyond them


@dataclass(frozen=True)
class CpuPeak:
    """What a CPU can do at most.

    Attributes
    ----------
    gflops
        10**9 floating-point operations a second, two for each multiply-add: the fastest sample of all.
    vector
        Bytes of the vectors that reached it.
    bandwidth
        KiB that each thread reads again and again -> 10**9 bytes a second, of all threads together.
    label
        "measured on <CPU>".
    by_vector
        Bytes of a vector -> the fastest sample with such vectors, 10**9 operations a second.
    """

    dtype: str
    threads: int
    gflops: float
    vector: int
    bandwidth: dict[int, float] = field(repr=False)
    label: str
    by_vector: dict[int, float] = field(default_factory=dict, repr=False)

    def above(self, speeds: Mapping[str, float]) -> tuple[str, ...]:
        """Return the names of programs that are faster than this peak, so that it is none: the CPU was slower when it was measured.

        Parameters
        ----------
        speeds
            GFLOP/s of each.

        >>> CpuPeak("float32", 1, 58.0, 32, {}, "").above({"gemm_packed": 47.0, "blas": 78.9})
        ('blas',)
        """
        return tuple(name for name, gflops in speeds.items() if gflops > self.gflops)

    def bound(self, flops_per_byte: float, size_kib: int = SIZES_KIB[-1]) -> float:
        """Return the roofline: GFLOP/s at most for so many operations a byte, read from a working set of that size.

        >>> CpuPeak("float32", 1, 100.0, 32, {98304: 20.0}, "").bound(0.5)
        10.0
        """
        return min(self.gflops, flops_per_byte * self.bandwidth[size_kib])


def cpu_peak(dtype: str = "float32", *, threads: int = 1, sizes_kib: Sequence[int] = SIZES_KIB, budget_s: float = 0.2,
             rounds: int = 3) -> CpuPeak:
    """Measure the roofs of this CPU.

    A roof is what nothing exceeds. So of all samples the fastest counts, and everything is measured in several rounds: a core's clock rises
    and falls, and on a shared machine others take their part of it.

    Parameters
    ----------
    threads
        How many compute, or read, at once; each has its own data.
    sizes_kib
        Working sets of each thread, in KiB.
    budget_s
        About how long each kind of arithmetic, and each size, is measured in all.
    rounds
        In how many portions.

    Raises
    ------
    CourseError
        Without a C compiler.
    """
    if dtype not in REALS:
        raise CourseError(f"dtype = {dtype!r}: it must be 'float32' or 'float64'")
    if threads < 1:
        raise CourseError(f"threads = {threads}: at least one must compute")
    computed: dict[tuple[int, int], float] = {}
    read: dict[int, float] = {}
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds):
            for kind in product(VECTORS, CHAINS):
                computed[kind] = max(computed.get(kind, 0), _compute(pool, threads, dtype, *kind, budget_s / rounds))
            vector, _ = max(computed, key=computed.__getitem__)
            for size in sizes_kib:
                read[size] = max(read.get(size, 0), _read(pool, threads, dtype, vector, size, budget_s / rounds))
    by_vector = {vector: max(computed[vector, chains] for chains in CHAINS) for vector in VECTORS}
    return CpuPeak(dtype, threads, max(by_vector.values()), vector, read, f"measured on {toolchain.cpu_name()}", by_vector)


def _program(dtype: str, vector: int, chains: int = CHAINS[0]) -> HostProgram:
    return toolchain.compile_c((FOLDER / "peak.h").read_text(encoding="utf-8"), name="peak.h",
                               defines={"REAL": {"float32": "float", "float64": "double"}[dtype], "VB": vector, "CHAINS": chains})


def _all(pool: ThreadPoolExecutor, threads: int, work: Callable[[int], object]) -> Callable[[], object]:
    """Return a callable that lets every thread do its work and waits; C runs without Python's lock."""
    return lambda: list(pool.map(work, range(threads)))


def _compute(pool: ThreadPoolExecutor, threads: int, dtype: str, vector: int, chains: int, budget_s: float) -> float:
    real, lanes = REALS[dtype], vector // np.dtype(dtype).itemsize
    function = _program(dtype, vector, chains).function("multiply_add", ctypes.c_longlong, real, real, ctypes.c_void_p)
    out = np.ones((threads, chains * lanes), dtype)
    seconds = fastest(_all(pool, threads, lambda t: function(ROUNDS, 0.5, 0.5, out[t].ctypes.data)), budget_s=budget_s)
    return 2 * ROUNDS * out.size / seconds / 1e9


def _read(pool: ThreadPoolExecutor, threads: int, dtype: str, vector: int, size_kib: int, budget_s: float) -> float:
    unit = CHAINS[0] * vector
    elements = max(1, size_kib * 1024 // unit) * unit // np.dtype(dtype).itemsize
    again = max(1, (32 << 20) // (elements * np.dtype(dtype).itemsize))      # a sample reads 32 MiB at least
    function = _program(dtype, vector).function("read_all", ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p, ctypes.c_void_p)
    data, out = np.ones((threads, elements), dtype), np.empty((threads, unit // np.dtype(dtype).itemsize), dtype)
    seconds = fastest(_all(pool, threads, lambda t: function(again, elements, data[t].ctypes.data, out[t].ctypes.data)),
                      budget_s=budget_s)
    return again * data.nbytes / seconds / 1e9
