"""Bulk copies: bytes, late arrival, late reading, and the errors of sizes and addresses."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.host.counters import BULK_BYTES, BULK_COPIES

PTX = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
    .shared .align 16 .b8 s[4096]; .shared .align 8 .b8 object[8];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u64 %rd3, s;
    mov.u32 %r1, s;
    mov.u64 %rd4, object;
    mov.b64 %rd5, 0;
    mov.b32 %r2, 1024;
    mbarrier.init.shared.b64 [%rd4], 1;
    fence.mbarrier_init.release.cluster;
BODY
    ret;
}
"""
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
WAIT = """mbarrier.arrive.expect_tx.shared.b64 _, [%rd4], 1024;
AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [%rd4], 0;
@!%p1 bra AGAIN;"""


def launch(body, x, y, **how):
    return simt.launch(PTX.replace("BODY", body), "k", 1, 1, [x, y], **how)


@pytest.mark.parametrize("load", [f"{LOAD} [%rd3+16], [%rd1+32], 1024, [%rd4]", f"{LOAD} [%r1+16], [%rd1+32], %r2, [%rd4]",
                                  f"{LOAD}.L2::cache_hint [%rd3+16], [%rd1+32], 1024, [%rd4], %rd5",
                                  f"{LOAD.replace('cluster', 'cta')} [s+16], [%rd1+32], 1024, [object]"])
@pytest.mark.parametrize("store", [f"{STORE} [%rd2+64], [%rd3+16], 1024", f"{STORE}.L2::cache_hint [%rd2+64], [%r1+16], %r2, %rd5"])
@pytest.mark.parametrize("racecheck", [False, True])
def test_bytes_go_there_and_back(load, store, racecheck):
    x, y = np.random.default_rng(1).integers(0, 256, 2048).astype(np.uint8), np.zeros(2048, np.uint8)
    report = launch(f"cp.async.bulk.prefetch.L2.global [%rd1], 2048;\n{load};\n{WAIT}\n{store};\ncp.async.bulk.commit_group;\n"
                    "cp.async.bulk.wait_group 0;", x, y, racecheck=racecheck)
    wanted = np.zeros_like(y)
    wanted[64:64 + 1024] = x[32:32 + 1024]
    assert (y == wanted).all()
    assert (report.hazards, report.async_findings) == ((), ())
    assert told(report) == {"ld": (1, 1024), "st": (1, 1024), "red": (0, 0)}
    assert report.counters["instructions_mbarrier"] == 2 + 2, "init, arrival, and an attempt to wait that fails before one that does not"


def told(report):
    """Return the bulk copies of each direction and their bytes."""
    return {d: tuple(report.counters[name] for name in (BULK_COPIES.format(d), BULK_BYTES[d])) for d in BULK_BYTES}


KINDS = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64, "b32": np.uint32, "b64": np.uint64, "f32": np.float32,
         "f64": np.float64, "f16": np.float16}
HOW = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
       "add.noftz": np.add, "inc": lambda old, b: np.where(old >= b, 0, old + 1),
       "dec": lambda old, b: np.where((old == 0) | (old > b), b, old - 1)}


@pytest.mark.parametrize("form", [*(f"{op}.{t}" for op in ("add", "min", "max") for t in ("u32", "s32", "u64", "s64")), "inc.u32",
                                  "dec.u32", *(f"{op}.{t}" for op in ("and", "or", "xor") for t in ("b32", "b64")), "add.f32", "add.f64",
                                  "min.f16", "max.f16", "add.noftz.f16"])
def test_a_reduction_of_each_element(form):
    op, _, kind = form.rpartition(".")
    rng, dtype = np.random.default_rng(2), KINDS[kind]
    x, y = (rng.integers(-50, 50, 1024 // np.dtype(dtype).itemsize).astype(dtype) for _ in range(2))
    wanted = HOW[op](y, x).astype(dtype)
    reduction = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%rd2], [%rd3], 1024"
    report = launch(f"{LOAD} [%rd3], [%rd1], 1024, [%rd4];\n{WAIT}\n{reduction};\n"
                    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;", x, y)
    assert (y == wanted).all()
    assert told(report) == {"ld": (1, 1024), "st": (0, 0), "red": (1, 1024)}


def test_bytes_are_not_there_before_a_wait_and_the_source_is_read_late():
    x, y = np.arange(256, dtype=np.uint32), np.zeros(4, np.uint32)
    launch(f"{LOAD} [%rd3], [%rd1], 1024, [%rd4];\nld.shared.u32 %r3, [%rd3+4];\nst.global.u32 [%rd2], %r3;\nst.global.u32 [%rd1+8], 77;\n"
           f"{WAIT}\nld.shared.u32 %r3, [%rd3+4];\nst.global.u32 [%rd2+4], %r3;\n"
           "ld.shared.u32 %r3, [%rd3+8];\nst.global.u32 [%rd2+8], %r3;", x, y)
    assert y.tolist() == [0x7FBADBAD, 1, 77, 0]


def test_the_first_attempt_to_wait_may_fail():
    """All bytes are under way and nothing else is missing; they come while the thread tries again."""
    x, y = np.arange(256, dtype=np.uint32), np.zeros(4, np.uint32)
    launch(f"{LOAD} [%rd3], [%rd1], 1024, [%rd4];\nmbarrier.arrive.expect_tx.shared.b64 _, [%rd4], 1024;\n"
           "mbarrier.try_wait.parity.shared.b64 %p1, [%rd4], 0;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%rd2], %r3;", x, y)
    assert y[0] == 0


def test_groups_are_read_and_written_one_after_the_other():
    """Three groups of a store each: a wait for all but one reads two; what it has read nobody changes any more, the rest they do."""
    x, y = np.zeros(1, np.uint32), np.zeros(12, np.uint32)
    body = "".join(f"st.shared.v4.u32 [%rd3+{16 * i}], {{{i + 1}, 0, 0, 0}};\n" for i in range(3)) + "fence.proxy.async;\n"
    body += "".join(f"{STORE} [%rd2+{16 * i}], [%rd3+{16 * i}], 16;\ncp.async.bulk.commit_group;\n" for i in range(3))
    body += "cp.async.bulk.wait_group.read 1;\n" + "".join(f"st.shared.u32 [%rd3+{16 * i}], 9;\n" for i in range(3))
    body += "cp.async.bulk.wait_group 0;"
    report = launch(body, x, y, racecheck=True)
    assert y.reshape(3, 4)[:, 0].tolist() == [1, 2, 9]
    assert [h.kind for h in report.hazards] == ["WAR"]


def test_waiting_for_the_reading_does_not_wait_for_the_writing():
    x, y = np.zeros(1, np.uint32), np.zeros(8, np.uint32)
    launch(f"st.shared.u32 [%rd3], 5;\n{STORE} [%rd2], [%rd3], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
           "ld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd2+16], %r3;\ncp.async.bulk.wait_group 0;\nld.global.u32 %r3, [%rd2];\n"
           "st.global.u32 [%rd2+20], %r3;", x, y)
    assert y[[0, 4, 5]].tolist() == [5, 0, 5]


ERRORS = {
    f"{LOAD} [%rd3], [%rd1], 24, [%rd4];": (simt.MbarrierMisuse, "a multiple of 16"),
    f"{LOAD} [%rd3], [%rd1], 0, [%rd4];": (simt.MbarrierMisuse, "at least 16"),
    f"{LOAD} [%rd3+8], [%rd1], 16, [%rd4];": (simt.Misaligned, "multiple of 16"),
    f"{LOAD} [%rd3], [%rd1+4], 16, [%rd4];": (simt.Misaligned, "reads 16 bytes"),
    f"{LOAD} [%rd3], [%rd1], 16, [%rd4+4];": (simt.Misaligned, "is no multiple of"),
    f"{LOAD} [%rd3], [%rd1], 16, [%rd3];": (simt.MbarrierMisuse, "finds no mbarrier"),
    f"{LOAD} [%rd3], [%rd1], 2064, [%rd4];": (simt.OutOfBounds, "reads x[512]"),
    f"{LOAD} [%rd3+4096], [%rd1], 32, [%rd4];": (simt.OutOfBounds, "writes 16 bytes at byte 4096"),
    f"{STORE} [%rd2+2032], [%rd3], 32;": (simt.OutOfBounds, "writes y[512]"),
    f"{STORE} [%rd2+8], [%rd3], 32;": (simt.Misaligned, "writes 16 bytes"),
    f"{STORE} [%rd1], [%rd3], 32;": (simt.OutOfBounds, "read-only"),
    f"{LOAD} [%rd3], [%rd1], %rd5, [%rd4];": (simt.PtxSyntaxError, "a register of 32 bits"),
    "cp.async.bulk.wait_group %r1;": (simt.PtxSyntaxError, "imm"),
}


@pytest.mark.parametrize("text", ERRORS, ids=range(len(ERRORS)))
def test_errors_name_line_and_reason(text):
    x, y = np.zeros(512, np.uint32), np.zeros(512, np.uint32)
    x.flags.writeable = False
    kind, words = ERRORS[text]
    with pytest.raises(kind) as caught:
        launch(f".loc 1 9 0\n{text}", x, y)
    assert words in str(caught.value)
    assert caught.value.line == 9


def test_many_threads_copy_a_row_each():
    source = r"""
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ __align__(16) int s[128][8];
    __shared__ unsigned long long bar;
    const int t = threadIdx.x;
    const unsigned b = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(s[t]);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128; fence.mbarrier_init.release.cluster;" :: "r"(b) : "memory");
    __syncthreads();
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 32, [%2];\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%2], 32;" :: "r"(to), "l"(x + 8 * (127 - t)), "r"(b) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(b) : "memory");
    for (int i = 0; i < 8; ++i) y[8 * t + i] = s[t ^ 5][i];
}
"""
    x = np.arange(1024, dtype=np.int32)
    for how in ({}, {"racecheck": True}, {"warp_order": "reverse"}):
        y = np.zeros(1024, np.int32)
        report = simt.launch(source, "k", 2, 128, [x, y], arch="sm_90", **how)
        assert told(report)["ld"] == (2 * 128, 2 * 128 * 32), "the machine code copies lane by lane"
        assert sum(count for name, count in report.counters.items() if "pipe_lsu_mem_global_op_ld" in name) == 0
        assert {report.level[name] for name in (*BULK_BYTES.values(), BULK_COPIES.format("ld"))} == {"PTX level"}
        assert (y.reshape(128, 8) == x.reshape(128, 8)[::-1][np.arange(128) ^ 5]).all()
        assert (report.hazards, report.async_findings) == ((), ())


MEMCPY = r"""
#include <cuda/barrier>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(block, s, x, cuda::aligned_size_t<16>(1024), bar);
    bar.arrive_and_wait();
    for (int i = threadIdx.x; i < 256; i += 64) y[i] = s[255 - i];
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_memcpy_async_with_a_barrier(arch):
    """sm_80 makes cp.async of it, sm_90 one bulk copy; NVIDIA's header does not fence the init, which needs no fence."""
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    report = simt.launch(MEMCPY, "k", 1, 64, [x, y], arch=arch, racecheck=True)
    assert (y == x[::-1]).all()
    assert report.hazards == ()
    assert ("cp.async.bulk" in report.ptx) == (arch == "sm_90")
    assert report.async_findings == ()


def test_a_trace_has_where_a_copy_reads_and_where_it_writes():
    x, y = np.zeros(256, np.uint32), np.zeros(256, np.uint32)
    report = launch(f"{LOAD} [%rd3+32], [%rd1], 1024, [%rd4];\n{WAIT}\n{STORE} [%rd2], [%rd3+32], 1024;\ncp.async.bulk.commit_group;\n"
                    "cp.async.bulk.wait_group.read 0;", x, y, trace=[(0, 0)])
    found = [(r.operation.split(".")[0], r.space, int(r.addresses[0])) for r in report.trace if "bulk" in r.operation and r.space]
    there = {a.name: a.address for a in report.arrays}
    assert found == [("cp", "global", there["x"]), ("cp", "shared", 32), ("cp", "shared", 32), ("cp", "global", there["y"])]
    assert report.trace[-1].operation == "cp.async.bulk.wait_group.read 0"
    assert report.trace[0].operation == "mbarrier.init.shared.b64"
