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


LEAVES = """__device__ volatile int flag[64], left[64][64];
extern "C" __global__ void k(int* out) {
    const int me = blockIdx.x, t = threadIdx.x;
    left[me][t] = 100 * me + t + 1;
    __threadfence();
    __syncthreads();             // all is left
    if (t == 0) flag[me] = 1;
    if (me) {
        if (t == 0) while (!flag[me - 1]) { }
        __syncthreads();         // all have waited
        out[64 * me + t] = left[me - 1][63 - t];
    }
}
"""


@pytest.mark.parametrize(("line", "finds"), [("// nothing", False), ("__syncthreads();             // all is left", True),
                                             ("__syncthreads();         // all have waited", True),
                                             ("while (!flag[me - 1]) { }", True)], ids=["right", "told early", "read early", "not waited"])
@pytest.mark.parametrize("racecheck", [False, True])
def test_the_last_block_first_shows_who_does_not_wait(line, finds, racecheck):
    """One block after another (by one worker) each of them is right: what a block reads was left long ago."""
    text, me, t = LEAVES.replace(line, ";"), np.arange(1, 8)[:, None], np.arange(64)[None]
    for last_block_first, right in ((False, True), (True, not finds)):
        out = np.full((8, 64), -1, INT)
        simt.launch(text, "k", 8, 64, [out], racecheck=racecheck, max_steps=200_000, last_block_first=last_block_first,
                    workers=1)
        assert (out[1:] == 100 * (me - 1) + 64 - t).all() == right


def test_with_the_last_block_first_an_earlier_one_may_wait_for_it():
    flag, out = np.zeros(16, INT), np.zeros(16, INT)
    simt.launch(SOURCE.replace("WAIT", WAITS[0]), "k", 16, 32, [flag, out, INT(1)], max_steps=200_000, last_block_first=True)
    assert (out == np.arange(1, 17)).all()


def test_more_blocks_than_fit_have_no_last_one_that_runs_first():
    with pytest.raises(simt.LaunchError, match="last block first"):
        simt.launch(LEAVES, "k", 132 * 32 + 1, 64, [np.zeros(64, INT)], last_block_first=True)
