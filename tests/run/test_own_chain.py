"""A microbenchmark of the reader's own: right when its chain is whole, and what is said when it is not."""

import pytest

from course_lib.errors import CourseError
from course_lib.kernels import own_chain
from course_lib.run import run_micro

HEAD = 'extern "C" __global__ void chain(const float* in, float b, float c, long long* begin, long long* end, float* out) {'
ONE = HEAD + """
    float a = in[threadIdx.x];
    long long start, stop;
    for (int pass = 0; pass < 2; ++pass) {
        start = clock64();
        for (int i = 0; i < 256; ++i) a = a * b + c;
        stop = clock64();
    }
    if (threadIdx.x % 32 == 0) begin[threadIdx.x / 32] = start, end[threadIdx.x / 32] = stop;
    out[threadIdx.x] = a;
}
"""
THREE = "#define CHAINS 3\n#define STEPS 100\n" + HEAD + """
    float a[CHAINS], sum = 0.0f;
    for (int j = 0; j < CHAINS; ++j) a[j] = in[threadIdx.x] + j;
    long long start, stop;
    for (int pass = 0; pass < 2; ++pass) {
        start = clock64();
        for (int i = 0; i < STEPS; ++i) for (int j = 0; j < CHAINS; ++j) a[j] = a[j] * b + c;
        stop = clock64();
    }
    for (int j = 0; j < CHAINS; ++j) sum += a[j];
    out[threadIdx.x] = sum;
    if (threadIdx.x % 32 == 0) begin[threadIdx.x / 32] = start, end[threadIdx.x / 32] = stop;
}
"""


@pytest.mark.parametrize("threads", [1, 32, 100])
@pytest.mark.parametrize(("text", "steps", "chains"), [(ONE, 256, 1), (THREE, 100, 3)])
def test_a_whole_chain_is_right_and_counted(text, steps, chains, threads):
    result = run_micro(text, threads=threads, backend="sim")
    assert result.right
    assert result.steps == steps
    assert chains <= result.counts_per_step[0] < chains + 1.5      # a loop's own instructions are a few beside 256


@pytest.mark.parametrize(("old", "new"), [
    ("out[threadIdx.x] = a;", ""), ("out[threadIdx.x] = a;", "out[threadIdx.x] = 0.0f;"), ("i < 256", "i < 255"), ("pass < 2", "pass < 1"),
    ("out[threadIdx.x] = a;", "out[threadIdx.x] = threadIdx.x ? a : a + 1;")])
def test_a_chain_that_is_not_whole_is_wrong(old, new):
    assert old in ONE
    assert not run_micro(ONE.replace(old, new), threads=64, backend="sim").right


def test_without_its_result_nothing_is_left_between_the_clocks():
    result = run_micro(ONE.replace("out[threadIdx.x] = a;", ""), backend="sim")
    assert result.counts_per_step[0] < 0.1


@pytest.mark.parametrize(("text", "options", "words"), [
    ("int x;", {}, "holds no kernel: .*long long. begin"), (HEAD.replace("float c, ", "") + "}", {}, "takes 5 arguments, not 6"),
    (HEAD.replace("float b", "double b") + "}", {}, "argument 2"), (ONE, {"STEPS": 64}, "STEPS"), (ONE, {"threads": 2000}, "threads")])
def test_what_does_not_fit_is_said(text, options, words):
    with pytest.raises(CourseError, match=words):
        run_micro(text, backend="sim", **options)


def test_its_text_stays_as_it_is():
    kernel = own_chain(THREE)
    assert kernel.defines(**kernel.check()) == {}
    assert kernel.kind == "micro"
