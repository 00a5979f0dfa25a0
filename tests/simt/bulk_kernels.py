"""Kernels with mbarriers and bulk copies: right as they stand, and broken in one place by a macro.

Each macro of RIGHT names a statement of a kernel; a launch may define another text for it. `#line 1` begins each kernel, so that the line
of a statement is its place in the text here, whatever stands in HEAD.
"""

import numpy as np

from course_lib import simt

HEAD = r"""
typedef unsigned int u32;
typedef unsigned long long u64;
#define ASM asm volatile
__device__ __forceinline__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#define INIT(bar, count) ASM("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(bar)), "r"(count) : "memory")
#define ARRIVE(bar) ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(bar)) : "memory")
#define EXPECT(bar, bytes) \
    ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(bar)), "r"(bytes) : "memory")
#define FENCE ASM("fence.proxy.async.shared::cta;" ::: "memory")
#define LOAD(to, from, bytes, bar) \
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
        :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory")
#define STORE(to, from, bytes) \
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(at(from)), "r"(bytes) : "memory")
#define COMMIT ASM("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_READ(n) ASM("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory")
#define WAIT_ALL ASM("cp.async.bulk.wait_group 0;" ::: "memory")
#define COPY4(to, from) ASM("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from) : "memory")
#define ARRIVE_BEHIND(bar) ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(bar)) : "memory")
#define TRY(done, bar, parity) \
    ASM("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" \
        : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory")
#define WAIT(bar, parity) do { u32 done; do { TRY(done, bar, parity); } while (!done); } while (0)
"""

LOADING = r"""
extern "C" __global__ void k(int tiles, const float* x, float* y) {
    __shared__ __align__(128) float buffer[2][128];
    __shared__ u64 full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) { INIT(&full[s], FULL_COUNT); INIT(&empty[s], EMPTY_COUNT); }
        INIT_FENCE;
    }
    INIT_SYNC;
    if (t == 0) {
        for (int i = 0; i < tiles; ++i) {
            const int s = i % 2, phase = i / 2 & 1;
            WAIT_EMPTY;
            TELL;
            LOAD(buffer[s], x + 128 * i, 256, &full[s]);
            LOAD(buffer[s] + 64, x + 128 * i + 64, 256, &full[s]);
        }
    } else if (t >= 32) {
        for (int i = 0; i < tiles; ++i) {
            const int s = i % 2, phase = i / 2 & 1;
            WAIT_FULL;
            EARLY;
            for (int j = t - 32; j < 128; j += 64) y[128 * i + j] = 2 * buffer[s][j ^ 1];
            RELEASE;
        }
    }
}
"""
STORING = r"""
extern "C" __global__ void k(int tiles, const float* x, float* y) {
    __shared__ __align__(128) float buffer[2][128];
    const int t = threadIdx.x;
    for (int i = 0; i < tiles; ++i) {
        float* b = buffer[i % 2];
        if (t == 0) WAIT_BUFFER;
        FREE_SYNC;
        for (int j = t; j < 128; j += 64) b[j ^ 1] = 2 * x[128 * i + j];
        PROXY;
        READY_SYNC;
        if (t == 0) { LATE_FENCE; STORE(y + 128 * i, b, 512); GROUP; }
    }
    if (t == 0) LAST_WAIT;
}
"""
COPYING = r"""
extern "C" __global__ void k(int tiles, const float* x, float* y) {
    __shared__ float buffer[2][64];
    __shared__ u64 full[2], empty[2];
    const int t = threadIdx.x;
    if (t < 2) { INIT(&full[t], 64); INIT(&empty[t], 64); }
    __syncthreads();
    if (t < 64) {
        for (int i = 0; i < tiles; ++i) {
            WAIT(&empty[i % 2], (i / 2 & 1) ^ 1);
            COPY4(&buffer[i % 2][t], x + 64 * i + t);
            HANDED;
        }
    } else {
        for (int i = 0; i < tiles; ++i) {
            WAIT(&full[i % 2], i / 2 & 1);
            y[64 * i + t - 64] = 2 * buffer[i % 2][(t - 64) ^ 1];
            ARRIVE(&empty[i % 2]);
        }
    }
}
"""
RIGHT = {
    LOADING: {"FULL_COUNT": "1", "EMPTY_COUNT": "64", "INIT_FENCE": "FENCE", "INIT_SYNC": "__syncthreads()",
              "WAIT_EMPTY": "WAIT(&empty[s], phase ^ 1)", "TELL": "EXPECT(&full[s], 512)", "WAIT_FULL": "WAIT(&full[s], phase)",
              "EARLY": "", "RELEASE": "ARRIVE(&empty[s])"},
    STORING: {"WAIT_BUFFER": "WAIT_READ(1)", "FREE_SYNC": "__syncthreads()", "PROXY": "FENCE", "READY_SYNC": "__syncthreads()",
              "LATE_FENCE": "", "GROUP": "COMMIT", "LAST_WAIT": "WAIT_READ(0)"},
    COPYING: {"HANDED": "ARRIVE_BEHIND(&full[i % 2])"},
}
THREADS = {LOADING: 96, STORING: 64, COPYING: 128}
TILE = {LOADING: 128, STORING: 128, COPYING: 64}


def line_of(kernel, words):
    """Return the line of a kernel's text in which these words stand first."""
    return 1 + next(i for i, line in enumerate(kernel.splitlines()[1:]) if words in line)


def run(kernel, tiles=5, arch="sm_90a", **how):
    """Launch one of the kernels, with other texts for some macros; return (whether y is right, report)."""
    changed = {name: how.pop(name) for name in list(how) if name in RIGHT[kernel]}
    x, y = np.arange(1, TILE[kernel] * tiles + 1, dtype=np.float32), np.zeros(TILE[kernel] * tiles, np.float32)
    source = HEAD + "#line 1\n" + kernel.lstrip("\n")
    how.setdefault("racecheck", True)
    report = simt.launch(source, "k", 1, THREADS[kernel], [np.int32(tiles), x, y], arch=arch, defines=RIGHT[kernel] | changed, workers=1,
                         **how)
    return np.array_equal(y, 2 * x.reshape(-1, 2)[:, ::-1].ravel()), report
