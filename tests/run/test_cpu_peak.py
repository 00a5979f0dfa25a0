"""The roofs of the CPU: the programs compute what they say; the speeds are numbers, and their size is no matter of a test."""

import ctypes

import numpy as np
import pytest
from cpu_tools import needs_c

from course_lib.errors import CourseError
from course_lib.run import cpu_peak
from course_lib.run.cpu_peak import CHAINS, VECTORS, CpuPeak, _program
from course_lib.run.stopwatch import fastest


@needs_c
@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("chains", CHAINS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_programs_do_the_work_that_is_counted(dtype, chains, vector):
    program, lanes = _program(dtype, vector, chains), vector // np.dtype(dtype).itemsize
    real = {"float32": ctypes.c_float, "float64": ctypes.c_double}[dtype]
    x = np.arange(chains * lanes).astype(dtype)
    program.function("multiply_add", ctypes.c_longlong, real, real, ctypes.c_void_p)(3, 2.0, 1.0, x.ctypes.data)
    assert (x == 8 * np.arange(chains * lanes) + 7).all()
    data, out = np.arange(5.0 * chains * lanes).astype(dtype), np.empty(chains * lanes, dtype)
    read_all = program.function("read_all", ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p, ctypes.c_void_p)
    read_all(2, data.size, data.ctypes.data, out.ctypes.data)
    assert (out == 2 * data.reshape(5, -1).sum(axis=0)).all()


@needs_c
def test_a_peak_is_told_with_where_it_was_measured():
    peak = cpu_peak("float64", threads=2, sizes_kib=(16, 256), budget_s=0.005)
    assert (peak.dtype, peak.threads, list(peak.bandwidth)) == ("float64", 2, [16, 256])
    assert peak.gflops > 0
    assert min(peak.bandwidth.values()) > 0
    assert peak.label.startswith("measured on ")
    assert peak.vector in VECTORS
    assert peak.gflops == max(peak.by_vector.values()) == peak.by_vector[peak.vector]


def test_the_fastest_sample_counts():
    """Calls of 5, 4, 9 and 7 ms, the first two to warm up: a slow sample is somebody else's."""
    now, durations = [0.0], iter([0.5, 0.004, 0.009, 0.007, 0.0082, 0.010])

    def call():
        now[0] += next(durations)

    assert fastest(call, budget_s=0.033, clock=lambda: now[0]) == pytest.approx(0.007)


def test_a_program_above_the_peak_is_named():
    peak = CpuPeak("float32", 1, 58.0, 32, {}, "")
    assert peak.above({"gemm_packed": 47.0, "blas": 78.9}) == ("blas",)
    assert peak.above({"gemm_packed": 47.0}) == ()


def test_the_roofline_is_the_lower_roof():
    peak = CpuPeak("float32", 1, 100.0, 32, {24: 400.0, 98304: 20.0}, "")
    assert [peak.bound(q) for q in (0.5, 5, 50)] == [10, 100, 100]
    assert peak.bound(0.1, 24) == 40


@pytest.mark.parametrize("arguments", [{"dtype": "int32"}, {"threads": 0}])
def test_wrong_arguments_are_named(arguments):
    with pytest.raises(CourseError, match=next(iter(arguments))):
        cpu_peak(**arguments)
