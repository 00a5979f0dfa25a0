"""Blocks that wait for other blocks: what is found does not depend on how many of them run side by side."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.host import build

INT = np.int32
SOURCE = """extern "C" __global__ void k(volatile int* flag, int* out, int ahead) {
    const int me = blockIdx.x, other = me + ahead;
    if (threadIdx.x == 0) {
        if (other >= 0 && other < gridDim.x)
            WAIT;
        flag[me] = 1;
        out[me] = me + 1;
    }
}
"""
WAITS = ["while (flag[other] == 0) { }", "while (atomicAdd((int*)flag + other, 0) == 0) { }",
         "do { __nanosleep(20); } while (*(volatile unsigned char*)(flag + other) == 0)",
         "{ int seen; do asm volatile(\"ld.acquire.gpu.global.s32 %0, [%1];\" : \"=r\"(seen) : \"l\"(flag + other) : \"memory\"); "
         "while (!seen); }"]


@pytest.mark.parametrize("wait", WAITS, ids=["volatile", "atomic", "byte", "acquire"])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_later_block_never_comes(wait, workers):
    flag, out = np.zeros(16, INT), np.zeros(16, INT)
    said = r"k, line 5: thread \(0, 0, 0\) of block \(0, 0, 0\): .* never for a later one"
    with pytest.raises(simt.StepBudgetExceeded, match=said) as caught:
        simt.launch(SOURCE.replace("WAIT", wait), "k", 16, 32, [flag, out, INT(1)], workers=workers, max_steps=200_000)
    assert caught.value.facts["waits"]


@pytest.mark.parametrize("wait", WAITS, ids=["volatile", "atomic", "byte", "acquire"])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_an_earlier_block_has_come(wait, workers):
    flag, out = np.zeros(16, INT), np.zeros(16, INT)
    simt.launch(SOURCE.replace("WAIT", wait), "k", 16, 32, [flag, out, INT(-1)], workers=workers, max_steps=200_000)
    assert (out == np.arange(1, 17)).all()


def test_loops_that_look_at_shared_memory_alone_keep_their_workers():
    text = """extern "C" __global__ void k(int* out) {
        __shared__ volatile int turn;
        if (threadIdx.x == 0) turn = 0;
        __syncthreads();
        while (turn != threadIdx.x / 32) { }
        if (threadIdx.x % 32 == 0) turn = turn + 1;
        out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    }"""
    assert not build.build(text, "k", block=(64, 1, 1)).program.waits_for_blocks()
