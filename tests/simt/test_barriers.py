"""Named barriers, reductions over a block, arrivals, barriers of a warp: results, deadlocks, and what they put in order."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"warp_order": 3}, {"trace": [(0, 0)]}]


def run(source, *args, n=64, block=64, **how):
    out = np.zeros(n, INT)
    report = launch(source, [out, *args], block=block, **how)
    return out, report


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("threads", [64, 33, 7, 96])
def test_count_and_or_over_a_block(threads, how):
    source = """extern "C" __global__ void f(int* out, int n) {
        const int i = threadIdx.x;
        if (i == n) return;
        int c = __syncthreads_count(i % 3 == 0);
        int a = __syncthreads_and(i < 200) * 2 + __syncthreads_and(i != 5);
        int o = __syncthreads_or(i == 6) * 2 + __syncthreads_or(i > 1000);
        out[i] = c * 100 + a * 10 + o;
    }"""
    for gone in (-1, 5, 6):
        out, _ = run(source, INT(gone), n=threads, block=threads, **how)
        alive = [i for i in range(threads) if i != gone]
        value = 100 * sum(i % 3 == 0 for i in alive) + 10 * (2 + (5 not in alive)) + 2 * (6 in alive)
        assert out.tolist() == [0 if i == gone else value for i in range(threads)]


PIPE = """extern "C" __global__ void f(int* out, int rounds) {
    __shared__ int box[2][32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < rounds; ++k) {
            int slot = k & 1;
            asm volatile("bar.sync %0, 64;" :: "r"(3 + slot));   // empty
            box[slot][lane] = k * 100 + lane;
            __threadfence_block();
            asm volatile("bar.arrive %0, 64;" :: "r"(1 + slot));   // full
        }
    } else {
        asm volatile("bar.arrive 3, 64;");
        asm volatile("bar.arrive 4, 64;");
        int sum = 0;
        for (int k = 0; k < rounds; ++k) {
            int slot = k & 1;
            asm volatile("bar.sync %0, 64;" :: "r"(1 + slot));
            sum = sum * 3 + box[slot][31 - lane];
            if (k + 2 < rounds) asm volatile("bar.arrive %0, 64;" :: "r"(3 + slot));
        }
        out[lane] = sum;
    }
}"""


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_producer_and_a_consumer(how):
    out, report = run(PIPE, INT(7), n=32, **how)
    total = np.zeros(32, int)
    for k in range(7):
        total = total * 3 + k * 100 + 31 - np.arange(32)
    assert (out == total).all()
    assert not report.hazards


@pytest.mark.parametrize(("wait", "rounds"), [('"bar.sync %0, 64;" :: "r"(3 + slot)', 3), ('"bar.sync %0, 64;" :: "r"(1 + slot)', 2)])
def test_the_same_without_one_of_its_barriers_is_a_race(wait, rounds):
    """The producer no longer waits for an empty slot, or the consumer for a full one."""
    assert wait in PIPE
    _, report = run(PIPE.replace(wait, wait.replace("sync", "arrive")), INT(rounds), n=32, racecheck=True, warp_order="reverse")
    assert {h.kind for h in report.hazards} & {"RAW", "WAR"}


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_two_groups_with_barriers_of_their_own(how):
    source = """extern "C" __global__ void f(int* out) {
        __shared__ int box[128];
        const int g = threadIdx.x / 64, i = threadIdx.x % 64;
        int x = threadIdx.x;
        for (int k = 0; k < 3 + 2 * g; ++k) {
            box[threadIdx.x] = x;
            asm volatile("barrier.sync %0, %1;" :: "r"(g + 5), "r"(64));
            x = x * 2 + box[g * 64 + 63 - i];
            asm volatile("barrier.sync.aligned %0, 64;" :: "r"(g + 5));
        }
        __syncthreads();
        box[threadIdx.x] = x;
        __syncthreads();
        out[threadIdx.x] = box[127 - threadIdx.x];
    }"""
    out, report = run(source, n=128, block=128, **how)
    x = np.arange(128)
    for k in range(5):
        for g in range(2):
            part = slice(64 * g, 64 * g + 64)
            if k < 3 + 2 * g:
                x[part] = x[part] * 2 + x[part][::-1]
    assert (out == x[::-1]).all()
    assert not report.hazards


def test_a_barrier_of_one_group_orders_nothing_in_the_other():
    source = """extern "C" __global__ void f(int* out) {
        __shared__ int box[96];
        box[threadIdx.x] = threadIdx.x;
        if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;");
        out[threadIdx.x] = box[(threadIdx.x + OFFSET) % LIMIT];
    }"""
    for offset, limit, clean in ((32, 64, True), (32, 96, False), (0, 96, True), (64, 96, False)):
        body = source.replace("OFFSET", str(offset)).replace("LIMIT", str(limit))
        if limit == 64:
            body = body.replace("out[threadIdx.x] =", "if (threadIdx.x < 64) out[threadIdx.x] =")
        for order in ("forward", "reverse"):
            _, report = run(body, n=96, block=96, racecheck=True, warp_order=order)
            assert (not report.hazards) == clean, (offset, limit)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_guarded_barriers_and_barriers_in_different_branches(how):
    source = """extern "C" __global__ void f(int* out) {
        __shared__ int box[64];
        box[threadIdx.x] = threadIdx.x * 3;
        asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %0, 40; setp.ge.u32 q, %0, 40; "
                     "@p barrier.sync 2; @q barrier.sync 2; }" :: "r"(threadIdx.x));
        if (threadIdx.x & 1) asm volatile("barrier.sync 7; // odd"); else asm volatile("barrier.sync 7; // even");
        out[threadIdx.x] = box[63 - threadIdx.x];
    }"""
    out, report = run(source, **how)
    assert out.tolist() == [3 * (63 - i) for i in range(64)]
    assert not report.hazards


# -- barriers of one number in several lines -----------------------------------------------------------------------------
ROLES = """extern "C" __global__ void f(int* out, int rounds) {
    __shared__ int box[2][32];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    if (threadIdx.x < 32) {
        for (int k = 0; k < rounds; ++k) {
            box[k & 1][lane] = k * 100 + lane;
            __syncthreads();
        }
    } else {
        for (int k = 0; k < rounds; ++k) {
            __syncthreads();
            sum = sum * 3 + box[k & 1][31 - lane];
        }
        out[lane] = sum;
    }
}"""


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_warps_of_different_roles_meet(how):
    out, report = run(ROLES, INT(5), n=32, **how)
    total = np.zeros(32, int)
    for k in range(5):
        total = total * 3 + k * 100 + 31 - np.arange(32)
    assert (out == total).all()
    assert not report.hazards
    (met,) = report.meetings
    assert (met.number, met.first_line, met.second_line, met.count, met.block) == (0, 8, 12, 5, (0, 0, 0))
    assert (met.first_thread, met.second_thread) == ((0, 0, 0), (32, 0, 0))
    assert "line 8" in str(met)
    assert "line 12" in str(met)


def test_a_meeting_orders_what_it_should_and_no_more():
    """Without the producer's wait for an empty box there is a race, whatever the barriers' lines."""
    racy = ROLES.replace("[k & 1]", "[0]")
    for order in ("forward", "reverse"):
        _, report = run(racy, INT(5), n=32, racecheck=True, warp_order=order)
        assert {h.kind for h in report.hazards} & {"RAW", "WAR"}
        assert len(report.meetings) == 1


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_meetings_are_errors_on_request(how):
    error = fault(simt.DivergentBarrier, ROLES, [np.zeros(32, INT), INT(5)], block=64, strict_barriers=True, **how)
    assert {error.line, error.other_line} == {8, 12}
    _, report = run(PIPE, INT(7), n=32, strict_barriers=True, **how)           # named barriers are made for it
    assert not report.meetings


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_three_roles_and_a_reduction_by_two_calls(how):
    source = """extern "C" __global__ void f(int* out) {
        const int w = threadIdx.x / 32, i = threadIdx.x;
        int n = 0;
        if (w == 0) {
            __syncthreads();
            n = __syncthreads_count(i & 1);
        } else if (w == 1) {
            __syncthreads();
            n = 1000 + __syncthreads_count(i % 32 < 3);
        } else {
            __syncthreads();
            n = 2000 + __syncthreads_count(0);
        }
        out[i] = n;
    }"""
    out, report = run(source, n=128, block=128, **how)
    assert out.tolist() == [1000 * min(i // 32, 2) + 19 for i in range(128)]
    assert {(m.first_line, m.second_line) for m in report.meetings} == {(5, 8), (5, 11), (6, 9), (6, 12)}


def test_meetings_are_summed_over_blocks():
    report = launch(ROLES, [np.zeros(32, INT), INT(3)], grid=(4, 2), block=64, workers=3)
    (met,) = report.meetings
    assert (met.count, met.block) == (24, (0, 0, 0))


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("body", [
    "if (w == 0) { __syncthreads(); __syncthreads(); }\n else __syncthreads();", "if (w) return; __syncthreads();"])
def test_warps_that_have_ended_are_not_waited_for(body, how):
    source = f"""extern "C" __global__ void f(int* out) {{ const int w = threadIdx.x / 32;
        {body}
        out[threadIdx.x] = 7; }}"""
    out, report = run(source, **how)
    assert out.tolist() == [7 if i < 32 or "else" in body else 0 for i in range(64)]
    assert len(report.meetings) == ("else" in body)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("body", ['if (w) __syncthreads();\n else asm("bar.sync 1;");',
                                  'if (w) __syncthreads();\n else __syncthreads_count(1);',
                                  'if (w) __syncthreads_or(1);\n else __syncthreads_count(1);',
                                  'if (w) __syncthreads();\n else asm("bar.sync 0, 128;");'])
def test_barriers_that_cannot_meet(body, how):
    source = f"""extern "C" __global__ void f(int* out) {{ const int w = threadIdx.x / 32; int n = 1;
        {body}
        out[threadIdx.x] = n; }}"""
    error = fault(simt.DivergentBarrier, source, [np.zeros(64, INT)], block=64, **how)
    assert error.line in (2, 3)
    assert error.other_line in (2, 3)


@pytest.mark.parametrize("body", ['if (threadIdx.x < 32) asm("bar.sync 1, 64;");',
                                  'if (threadIdx.x < 32) asm("bar.sync 1, 64;"); else asm("bar.sync 2, 64;");',
                                  'if (threadIdx.x < 32) asm("bar.sync 1, 96;"); else asm("bar.sync 1, 96;");',
                                  'if (threadIdx.x < 32) asm("barrier.sync 1;"); else asm("barrier.sync 2;");',
                                  'if (threadIdx.x < 32) asm("bar.sync 1, 64;"); else __syncthreads();',
                                  'if (threadIdx.x & 1) asm("barrier.sync 1, 64;"); else asm("barrier.sync 2, 64;");'])
def test_deadlocks_are_errors_with_their_lines(body):
    source = f"""extern "C" __global__ void f(int* out) {{
        out[threadIdx.x] = 1;
        {body}
        out[threadIdx.x] = 2;
    }}"""
    for how in WAYS:
        error = fault(simt.DivergentBarrier, source, [np.zeros(64, INT)], block=64, **how)
        assert (error.line, error.other_line, error.kernel) == (3, 3, "f")


@pytest.mark.parametrize(("call", "value", "word"), [
    ('asm("bar.sync %0;" :: "r"(n));', 16, "0 to 15"), ('asm("bar.sync 1, %0;" :: "r"(n));', 40, "multiple of 32"),
    ('asm("bar.sync 1, %0;" :: "r"(n));', 0, "multiple of 32"), ('asm("bar.sync %0;" :: "r"(n + threadIdx.x % 2));', 1, "other lanes"),
    ('if (threadIdx.x % 2) asm("bar.arrive 1, 64;");', 0, "part of its warp"),
    ('asm("bar.sync 1, %0;" :: "r"(threadIdx.x < 32 ? 64 : 96));', 0, "warps that came before"),
    ("__syncwarp(n);", 2, "its own lane")])
def test_misuse_is_named(call, value, word):
    source = f"""extern "C" __global__ void f(int* out, int n) {{
        {call}
        out[threadIdx.x] = 2;
    }}"""
    error = fault(simt.DivergentBarrier, source, [np.zeros(64, INT), INT(value)], block=64)
    assert word in str(error)
    assert error.line == 2


def test_forms_that_are_not_known_are_refused():
    for text in ("barrier.cluster.sync;", "barrier.cluster.wait.relaxed;", "bar.sync 1, 32, 5;",
                 "fence.proxy.tensormap::generic.release.gpu;"):
        source = f'extern "C" __global__ void f(int* out) {{\n asm volatile("{text}"); }}'
        with pytest.raises((simt.UnsupportedInstruction, simt.CompileError)):
            launch(source, [np.zeros(32, INT)])


# -- barriers of a warp -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lanes_of_one_warp_in_different_branches_meet_at_syncwarp(how):
    source = """extern "C" __global__ void f(int* out) {
        __shared__ volatile int box[64];
        const int i = threadIdx.x;
        int x;
        if (i % 32 < 16) {
            box[i] = i * 5;
            __syncwarp();
            x = box[i + 16];
            __syncwarp();
            box[i] = x + 1;
            __syncwarp();
        } else {
            box[i] = i * 7;
            __syncwarp();
            x = box[i - 16];
            __syncwarp();
            box[i] = x + 2;
            __syncwarp();
            x += 1000 * box[i - 16];
        }
        out[i] = x;
    }"""
    out, report = run(source, **how)
    expected = [7 * (i + 16) if i % 32 < 16 else 5 * (i - 16) + 1000 * (7 * i + 1) for i in range(64)]
    assert out.tolist() == expected
    assert not report.hazards


def test_masks_name_the_lanes_that_wait():
    source = """extern "C" __global__ void f(int* out) {
        __shared__ volatile int box[32];
        const int i = threadIdx.x, half = i / 16;
        if (i % 8 == 7) return;
        box[i] = i;
        if (i % 16 < 8) { __syncwarp(half ? 0xffff0000 : 0xffff); box[i] += 100; __syncwarp(half ? 0xffff0000 : 0xffff); }
        else { __syncwarp(half ? 0xffff0000 : 0xffff); __syncwarp(half ? 0xffff0000 : 0xffff); box[i] += box[i - 8]; }
        out[i] = box[i];
    }"""
    out, _ = run(source, n=32, block=32)
    assert out.tolist() == [0 if i % 8 == 7 else i + 100 if i % 16 < 8 else 2 * i - 8 + 100 for i in range(32)]


@pytest.mark.parametrize("body", ["if (i < 16) __syncwarp(); else __syncthreads();", "__syncwarp(i == 0 ? 3 : i == 1 ? 7 : 1 << i);"])
def test_lanes_that_can_never_come(body):
    source = f'extern "C" __global__ void f(int* out) {{ const int i = threadIdx.x; out[i] = 1;\n{body}\n }}'
    error = fault(simt.DivergentBarrier, source, [np.zeros(32, INT)])
    assert (error.line, error.other_line) == (2, 2)
    assert "__syncwarp" in str(error)


# -- turns --------------------------------------------------------------------------------------------------------------
LOCK = """extern "C" __global__ void f(int* out, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
    out[0] += threadIdx.x + 1;
    out[1] = max(out[1], (int)blockIdx.x);
    __threadfence();
    atomicExch(lock, 0);
}"""


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_lock_that_all_lanes_want(how):
    """Losers go round and round in front of the winner's code; on a GPU since Volta the winner goes on all the same."""
    out, _ = run(LOCK, np.zeros(1, INT), n=2, block=40, grid=2, **how)
    assert out.tolist() == [2 * sum(range(1, 41)), 1]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_warps_that_wait_for_each_other_in_both_directions(how):
    source = """__device__ __noinline__ int look(volatile int* p) { return *p; }
    extern "C" __global__ void f(int* out) {
        __shared__ volatile int flag[4];
        const int w = threadIdx.x / 32;
        if (threadIdx.x < 4) flag[threadIdx.x] = 0;
        __syncthreads();
        for (int k = 0; k < 3; ++k) {
            if (threadIdx.x % 32 == 5) {
                while (look(&flag[w]) != k) { }
                out[w * 3 + k] = clock() > 0;
                flag[w] = k + 1 == 3 ? -1 : 100;
            }
            if (threadIdx.x % 32 == 9 && k < 2) {
                int n = (w + 1) % 4;
                while (flag[n] < 100 && flag[n] != -1 && flag[n] <= k);
                while (flag[w] != 100);
                flag[w] = k + 1;
            }
        }
    }"""
    out, _ = run(source, n=12, block=128, **how)
    assert (out == 1).all()


def test_a_block_waits_for_an_earlier_one_but_not_for_a_later():
    source = """extern "C" __global__ void f(int* out, volatile int* flag, int step) {
        const int other = blockIdx.x + step;
        if (threadIdx.x == 0) {
            if (other >= 0 && other < gridDim.x)
                while (flag[other] == 0)
                    ;
            flag[blockIdx.x] = 1;
            out[blockIdx.x] = other;
        }
    }"""
    out = np.zeros(4, INT)
    launch(source, [out, np.zeros(4, INT), INT(-1)], grid=4)
    assert out.tolist() == [-1, 0, 1, 2]
    error = fault(simt.StepBudgetExceeded, source, [out, np.zeros(4, INT), INT(1)], grid=4, max_steps=200_000)
    assert error.waits
    assert error.line == 5
    assert "later" in str(error)


def test_an_endless_loop_is_named_where_it_turns():
    source = """extern "C" __global__ void f(int* out, int n) {
        int x = out[0];
        for (int k = 0; k < 10; ++k) x += out[k];
        int y = x * 3 + n;


        while (x != y * 2 + 1)
            x = (x * 5 + out[x & 31]) & 0xfffffffe;
        out[threadIdx.x] = x;
    }"""
    error = fault(simt.StepBudgetExceeded, source, [np.zeros(32, INT), INT(4)], max_steps=10_000)
    assert error.line in (7, 8)
    assert not error.waits
