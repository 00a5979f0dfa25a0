"""The machine code between two readings of the clock."""

import pytest

from course_lib.errors import CourseError
from course_lib.kernels import ALL
from course_lib.toolchain import between_clocks, compile_cuda

HEAD = 'extern "C" __global__ void k(float* x, long long* t) {'


def test_the_chain_of_a_microbenchmark():
    kernel = ALL["micro_fma_shared"]
    code = [one.base for one in between_clocks(compile_cuda(kernel.source, defines=kernel.defines(**kernel.check())))]
    assert (code.count("FFMA"), code.count("LDS")) == (256, 256)


@pytest.mark.slow
def test_nothing_is_left_of_a_result_that_nobody_needs():
    text = HEAD + "float a = x[0]; long long s = clock64(); for (int i = 0; i < 99; ++i) a = a * a + 1.0f; t[0] = clock64() - s;"
    assert "FFMA" not in [one.base for one in between_clocks(compile_cuda(text + "}"))]
    assert [one.base for one in between_clocks(compile_cuda(text + "x[0] = a; }"))].count("FFMA") > 0


@pytest.mark.slow
def test_the_last_two_readings_count():
    step = 'asm volatile("fma.rn.f32 %0, %0, %0, 0f3F800000;" : "+f"(a)); '
    begin, end = HEAD + "float a = x[0]; long long p = clock64(); ", "x[0] = a; t[0] = p; t[1] = q; t[2] = r; }"
    first = begin + step + "long long q = clock64(), r = clock64(); " + end
    second = begin + "long long q = clock64(); " + step + "long long r = clock64(); " + end
    found = [[one.base for one in between_clocks(compile_cuda(text))].count("FFMA") for text in (first, second)]
    assert found == [0, 1]


@pytest.mark.parametrize(("body", "times"), [("t[0] = 1;", 0), ("t[0] = clock64();", 1)])
def test_a_clock_is_read_before_and_after(body, times):
    with pytest.raises(CourseError, match=f"read {times} times"):
        between_clocks(compile_cuda(HEAD + body + "}"))
