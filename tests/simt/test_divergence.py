"""Threads of a warp that go different ways: right results, and lanes that meet again where the code does."""

import random

import numpy as np
import pytest
from programs import Emitter, Warp, draw

from course_lib import simt

EXECUTED = "smsp__inst_executed.sum"
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"


def both(nodes, threads, seed, **how):
    """Run a program on the simulator and in NumPy; return two triples (answers, instructions, divergent branches)."""
    out = np.zeros(threads, np.uint32)
    report = simt.launch(Emitter().text(nodes), "k", 1, threads, [out, np.uint32(seed)], workers=1, max_steps=200_000, **how)
    warps = [Warp(np.arange(first, min(first + 32, threads), dtype=np.uint32), seed) for first in range(0, threads, 32)]
    answers = np.concatenate([w.run(nodes) for w in warps])
    expected = answers.tolist(), sum(w.executed for w in warps), sum(w.divergent for w in warps)
    return (out.tolist(), report.counters[EXECUTED], report.counters[DIVERGENT]), expected


@pytest.mark.sampled(test=15)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    """Results, instructions executed and divergent branches are those of lanes that meet as early as they can."""
    nodes = draw(random.Random(seed), depth=2 + seed % 2)
    threads = (32, 64, 50, 33, 7)[seed % 5]
    found, expected = both(nodes, threads, seed * 77777)
    assert found == expected


DIRECTED = {
    "a flag set by some lanes": [("set", 1), ("if", 3, [("set", 2)], []),
                                 ("op", "add", 0, 1, "5"), ("if", "flag", [("op", "add", 0, 0, "9")], [])],
    "a flag set by some lanes of a loop": [("uniform", 3, [("if", 7, [("set", 2)], [("set", 0)]), ("uniform", 2, [("op", "add", 0, 0, 2)]),
                                                           ("if", "flag", [("op", "xor", 0, 0, "128")], [("op", "mul.lo", 0, 0, 1)])])],
    "a uniform register that lanes change": [("if", 2, [("op", "add", 2, 2, "1")], []), ("uniform", 4, [("op", "add", 0, 0, 2)]),
                                             ("op", "mul.lo", 1, 1, 2)],
    "a step that lanes change": [("uniform", 3, [("op", "mul.lo", 3, 1, 2),
                                                 ("op", "add", 1, 1, 3), ("if", 5, [("op", "mov", 1, 3, 0)], [])])],
    "registers that change places": [("uniform", 4, [("op", "mov", 3, 1, 0), ("op", "mov", 1, 2, 0), ("op", "mov", 2, 3, 0),
                                                     ("op", "add", 1, 1, "12")])],
}


@pytest.mark.parametrize("name", DIRECTED)
@pytest.mark.parametrize("seed", [2, 6, 0x80000001, 0xFFFFFFFF])
def test_what_fast_code_keeps_once_for_all_lanes(name, seed):
    found, expected = both(DIRECTED[name], 64, seed)
    assert found == expected


@pytest.mark.parametrize("how", [{"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"trace": [(0, 0)]}])
def test_every_way_of_running_agrees(how):
    for seed in range(100, 108):
        found, expected = both(draw(random.Random(seed)), 70, seed, **how)
        assert found == expected


# -- CUDA C -------------------------------------------------------------------------------------------------------------
def run(source, n=64, threads=64, **arrays):
    out = np.zeros(n, np.int32)
    report = simt.launch(source, "f", 1, threads, [out, *arrays.values()], workers=1)
    return out, report


def test_if_and_else_by_lane():
    out, report = run("""extern "C" __global__ void f(int* out) {
        int i = threadIdx.x, x;
        if (i & 1) { x = i * i; for (int k = 0; k < 3; ++k) x = x * 7 + k; } else { x = -i; }
        out[i] = x;
    }""")
    i = np.arange(64)
    odd = i * i
    for k in range(3):
        odd = odd * 7 + k
    assert (out == np.where(i & 1, odd, -i)).all()
    assert report.counters[STORES] == 2  # once a warp: the lanes are together again


def test_loops_with_a_count_per_lane():
    out, report = run("""extern "C" __global__ void f(int* out) {
        int x = threadIdx.x, n = 0;
        while (x != 1 && x != 0) { x = x & 1 ? 3 * x + 1 : x / 2; ++n; }
        out[threadIdx.x] = n;
    }""")

    def collatz(x):
        n = 0
        while x > 1:
            x, n = 3 * x + 1 if x & 1 else x // 2, n + 1
        return n

    assert out.tolist() == [collatz(x) for x in range(64)]
    assert report.counters[STORES] == 2


def test_early_returns_and_nesting():
    out, report = run("""extern "C" __global__ void f(int* out) {
        const int i = threadIdx.x;
        if (i >= 61) return;
        out[i] = 1;
        for (int k = 0; k < 8; ++k) {
            if (k == (i & 7)) {
                if (i & 16) return;
                continue;
            }
            out[i] += k;
            if (i == 40 && k == 5) break;
        }
        out[i] = -out[i];
    }""")

    def expected(i):
        if i >= 61:
            return 0
        x = 1
        for k in range(8):
            if k == i & 7:
                if i & 16:
                    return x
                continue
            x += k
            if i == 40 and k == 5:
                break
        return -x

    assert out.tolist() == [expected(i) for i in range(64)]


def test_switch_and_logic():
    out, _ = run("""extern "C" __global__ void f(int* out) {
        const int i = threadIdx.x;
        int x = i > 3 && (i % 5 == 0 || i == 7) ? 100 : 0;
        switch (i % 9) {
            case 0: x += 1;
            case 1: x += 10; break;
            case 4: x -= 5; break;
            case 7: return;
            default: x = i < 32 ? ~x : x ^ i;
        }
        out[i] = x;
    }""")

    def expected(i):
        x = 100 if i > 3 and (i % 5 == 0 or i == 7) else 0
        case = i % 9
        if case == 7:
            return 0
        if case in (0, 1):
            return x + 10 + (case == 0)
        return x - 5 if case == 4 else ~x if i < 32 else x ^ i

    assert out.tolist() == [expected(i) for i in range(64)]


def test_warps_of_a_block_go_different_ways():
    """Each warp is together, yet they part from each other: nothing diverges."""
    out, report = run("""extern "C" __global__ void f(int* out) {
        int x = 0;
        for (int k = 0; k <= threadIdx.x / 32; ++k) x += threadIdx.x;
        out[threadIdx.x] = x;
    }""", n=256, threads=256)
    i = np.arange(256)
    assert (out == i * (i // 32 + 1)).all()
    assert report.counters[DIVERGENT] == 0


def test_barriers_inside_uniform_loops_of_divergent_code():
    out, _ = run("""extern "C" __global__ void f(int* out) {
        __shared__ int box[64];
        int x = threadIdx.x;
        for (int k = 0; k < 5; ++k) {
            if (x & 1) x = 3 * x + 1;
            box[threadIdx.x] = x;
            __syncthreads();
            x += box[63 - threadIdx.x];
            __syncthreads();
        }
        out[threadIdx.x] = x;
    }""")
    x = np.arange(64)
    for _ in range(5):
        x = np.where(x & 1, 3 * x + 1, x)
        x = x + x[::-1]
    assert (out == x).all()


def test_guarded_arithmetic_counts_the_lanes_of_its_guard():
    """Threads by lane, instructions by warp: an instruction that no lane runs does not count."""
    source = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 out) {
.reg .b32 %t; .reg .f32 %f; .reg .pred %p;
mov.u32 %t, %tid.x;
mov.f32 %f, 0f3F800000;
setp.lt.u32 %p, %t, 43;
@%p fma.rn.f32 %f, %f, %f, %f;
@!%p add.f32 %f, %f, %f;
setp.gt.u32 %p, %t, 1000;
@%p mul.f32 %f, %f, %f;
fma.rn.f32 %f, %f, %f, %f;
ret;
}"""
    for threads in (64, 50):
        counters = run(source, threads=threads)[1].counters
        found = [counters[f"smsp__sass_thread_inst_executed_op_{m}_pred_on.sum"] for m in ("ffma", "fadd", "fmul")]
        assert found == [43 + threads, threads - 43, 0]
        assert counters[EXECUTED] == 2 * 6 + 2 + 1


def test_a_barrier_in_front_of_what_only_masked_code_runs():
    """The warp waits there too, although it leaves uniform code there."""
    out, _ = run("""extern "C" __global__ void f(int* out) {
        __shared__ int box[128];
        box[threadIdx.x] = threadIdx.x;
        int* other = &box[127 - threadIdx.x];
        __syncthreads();
        asm volatile("red.shared.add.s32 [%0], 1000;" :: "l"(__cvta_generic_to_shared(other)) : "memory");
        __syncthreads();
        out[threadIdx.x] = box[threadIdx.x];
    }""", n=128, threads=128)
    assert out.tolist() == [1000 + i for i in range(128)]


def test_unsigned_division_by_a_constant_in_a_loop():
    """Compilers write the factor 2863311531 of a 32-bit product with 64 bits as a negative number."""
    out = np.zeros(64, np.int32)
    simt.launch("""extern "C" __global__ void f(int* out, int n) {
        #pragma unroll 1
        for (unsigned k = 0; k < n; ++k) out[threadIdx.x] = out[threadIdx.x] * 2 + ((threadIdx.x + k) % 3 == 0);
    }""", "f", 1, 64, [out, np.int32(5)], workers=1)
    bits = [[(i + k) % 3 == 0 for k in range(5)] for i in range(64)]
    assert out.tolist() == [int("".join(str(int(b)) for b in row), 2) for row in bits]
