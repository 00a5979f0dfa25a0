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

LABELS = r"""ASM("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
    "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
    :: "r"(at(&full[s])), "r"(phase) : "memory")""".replace("\n    ", " ")       # as libraries write it
QUIET = {
    "a loop of PTX": (LOADING, {"WAIT_FULL": LABELS}),
    "one lane waits for its warp": (LOADING, {"WAIT_FULL": "if (t % 32 == 0) WAIT(&full[s], phase); __syncwarp()"}),
    "one warp waits for both": (LOADING, {"WAIT_FULL": 'if (t < 64) WAIT(&full[s], phase); ASM("bar.sync 1, 64;" ::: "memory")'}),
    "one lane arrives for its warp": (LOADING, {"EMPTY_COUNT": "2", "RELEASE": "__syncwarp(); if (t % 32 == 0) ARRIVE(&empty[s])"}),
    "one warp arrives for both": (LOADING, {"EMPTY_COUNT": "32", "RELEASE":
                                            'ASM("bar.sync 1, 64;" ::: "memory"); if (t < 64) ARRIVE(&empty[s])'}),
    "bytes are expected for each half": (LOADING, {"FULL_COUNT": "2", "TELL": "EXPECT(&full[s], 256); EXPECT(&full[s], 256)"}),
    "a fence of the copying thread behind the barrier": (STORING, {"PROXY": "", "LATE_FENCE": "FENCE"}),
    "a fence of the copying thread behind an mbarrier": (STORING, {
        "FREE_SYNC": "__shared__ u64 filled; if (i == 0 && t == 0) INIT(&filled, 64); __syncthreads()", "PROXY": "", "LATE_FENCE": "FENCE",
        "READY_SYNC": "ARRIVE(&filled); if (t == 0) WAIT(&filled, i & 1)"}),
    "fence.mbarrier_init": (LOADING, {"INIT_FENCE": 'ASM("fence.mbarrier_init.release.cluster;" ::: "memory")'}),
    "all threads fence before they wait": (LOADING, {"INIT_FENCE": "", "INIT_SYNC": "FENCE; __syncthreads()"}),
    "a wait for the writing too": (STORING, {"WAIT_BUFFER": "WAIT_ALL", "LAST_WAIT": "WAIT_ALL"}),
}


# What is broken -> the kernel, its other statement, and whether the answer is right all the same; then the findings: of hazards
# {kind: (words of the first line, words of the second)}, of the others the same.
FULL, READ = "LOAD(buffer[s], ", "y[128 * i + j] ="
HALF = "LOAD(buffer[s] + 64"
HAZARDS = {
    "the parity of the other phase": (LOADING, {"WAIT_FULL": "WAIT(&full[s], phase ^ 1)", "tiles": 2}, False, ("RAW", None, READ)),
    "one half of the bytes expected": (LOADING, {"TELL": "EXPECT(&full[s], 256)"}, False, ("RAW", HALF, READ)),
    "no bytes expected": (LOADING, {"TELL": "ARRIVE(&full[s])"}, False, ("RAW", FULL, READ)),
    "an atomic where a copy is under way": (LOADING, {"EARLY": "if (i == 0) atomicAdd(&buffer[1][t], 1.0f)", "tiles": 2}, None,
                                            ("WAW", "LOAD(buffer[s]", "EARLY")),
    "no wait for the data": (LOADING, {"WAIT_FULL": "", "tiles": 2}, False, ("RAW", FULL, READ)),
    "one attempt instead of a loop": (LOADING, {"WAIT_FULL": "u32 done; TRY(done, &full[s], phase)"}, False, ("RAW", None, READ)),
    "only one lane waits": (LOADING, {"WAIT_FULL": "if (t % 32 == 0) WAIT(&full[s], phase)"}, False, ("RAW", FULL, READ)),
    "the buffer given back before it is read": (LOADING, {"EARLY": "ARRIVE(&empty[s])", "RELEASE": ""}, None, ("WAR", READ, FULL)),
    "too few arrivals for the buffer": (LOADING, {"EMPTY_COUNT": "1", "RELEASE": "if (t == 32) ARRIVE(&empty[s])"}, None,
                                        ("WAR", READ, FULL)),
    "one lane arrives for a warp that it did not wait for": (
        LOADING, {"EMPTY_COUNT": "2", "RELEASE": "if (t % 32 == 0) ARRIVE(&empty[s])"}, True, ("WAR", READ, FULL)),
    "nobody waits for the init": (LOADING, {"INIT_SYNC": ""}, True, ("RAW", "INIT(&full", "WAIT_FULL")),
    "no wait before the buffer is written again": (STORING, {"WAIT_BUFFER": ";"}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "a wait for too few groups": (STORING, {"WAIT_BUFFER": "WAIT_READ(2)"}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "nobody is told that the buffer is free": (STORING, {"FREE_SYNC": ""}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "no barrier between stores and copy": (STORING, {"READY_SYNC": ""}, None, ("RAW", "b[j ^ 1]", "STORE(y")),
    "an arrival that does not wait for the copies": (COPYING, {"HANDED": "ARRIVE(&full[i % 2])"}, False, ("RAW", "COPY4", "y[64 * i")),
}

FINDINGS = {
    "no fence behind the init": (LOADING, {"INIT_FENCE": ""}, True, ("unseen", "INIT(&full", "LOAD(buffer[s], ")),
    "no fence between stores and copy": (STORING, {"PROXY": ""}, True, ("unfenced", "b[j ^ 1]", "STORE(y")),
    "a fence before the barrier, of one thread alone": (STORING, {"PROXY": "if (t == 0) FENCE"}, True, ("unfenced", "b[j ^ 1]", "STORE(y")),
    "the last copies are not waited for": (STORING, {"LAST_WAIT": ";"}, False, ("unawaited", "STORE(y", "STORE(y")),
    "copies that belong to no group": (STORING, {"GROUP": ""}, False, ("unawaited", "STORE(y", "STORE(y")),
    "an ordinary load of an mbarrier": (LOADING, {"EARLY": "if (full[s] == 0) y[0] = 0"}, True, ("opaque", "INIT(&full", "EARLY")),
}

WAITS = {
    "an arrival is missing": (LOADING, {"RELEASE": ""}, "WAIT_EMPTY", "64 of 64 arrivals are missing"),
    "one arrival too many asked for": (LOADING, {"EMPTY_COUNT": "65"}, "WAIT_EMPTY", "1 of 65 arrivals are missing"),
    "more bytes expected than come": (LOADING, {"TELL": "EXPECT(&full[s], 768)"}, None, "256 bytes are expected that no copy brings"),
    "fewer bytes expected than come": (LOADING, {"TELL": "EXPECT(&full[s], 496)"}, None, "16 bytes more have come than were expected"),
    "the first phase of an empty buffer": (LOADING, {"WAIT_EMPTY": "WAIT(&empty[s], phase)"}, None, "64 of 64 arrivals are missing"),
    "arrivals that raise the count": (COPYING, {"HANDED": 'ASM("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" :: "r"(at(&full[i % 2])))'},
                                      None, "64 of 64 arrivals are missing"),
}

MISUSES = {
    "an init of what is one": (LOADING, {"INIT_FENCE": "INIT(&full[0], 1)"}, "which line 6 initialised"),
    "no init": (LOADING, {"TELL": "EXPECT(&buffer[1][0], 512)"}, "finds no mbarrier at the mbarrier at byte 512 of buffer"),
    "a count of none": (LOADING, {"FULL_COUNT": "blockIdx.x"}, "counts 0 arrivals"),   # NVRTC 13.0 ends on a literal 0
    "an ordinary store": (LOADING, {"INIT_FENCE": "FENCE; full[0] = 7"}, "changed by an ordinary store"),
    "more arrivals than a phase waits for": (LOADING, {"TELL": "EXPECT(&full[s], 512); ARRIVE(&full[s])"}, "for 0 more of 1 arrivals"),
    "no wait for the buffer": (LOADING, {"WAIT_EMPTY": ""}, "copies are still under way: nobody has waited for that phase"),
    "no wait for the data in more rounds": (LOADING, {"WAIT_FULL": ""}, "copies are still under way: nobody has waited for that phase"),
    "more bytes than can be counted": (LOADING, {"TELL": "EXPECT(&full[s], 1 << 20)"}, "more than 1048575 bytes"),
}


def line_of(kernel, words):
    """Return the line of a kernel's text in which these words stand first."""
    return 1 + next(i for i, line in enumerate(kernel.splitlines()[1:]) if words in line)


def source(kernel):
    """Return the text that is compiled."""
    return HEAD + "#line 1\n" + kernel.lstrip("\n")


def run(kernel, tiles=5, arch="sm_90a", **how):
    """Launch one of the kernels, with other texts for some macros; return (whether y is right, report)."""
    changed = {name: how.pop(name) for name in list(how) if name in RIGHT[kernel]}
    x, y = np.arange(1, TILE[kernel] * tiles + 1, dtype=np.float32), np.zeros(TILE[kernel] * tiles, np.float32)
    how.setdefault("racecheck", True)
    report = simt.launch(source(kernel), "k", 1, THREADS[kernel], [np.int32(tiles), x, y], arch=arch, defines=RIGHT[kernel] | changed,
                         workers=1, **how)
    return np.array_equal(y, 2 * x.reshape(-1, 2)[:, ::-1].ravel()), report
