"""`cp.async`: data arrive when a wait covers them, not before; what is forgotten is found."""

import numpy as np
import pytest

from course_lib import simt

POISON = 0x7FBADBAD
HEAD = "#include <cuda_pipeline.h>\n"
COPY = HEAD + """
extern "C" __global__ void copy(const float* x, float* y) {
    __shared__ __align__(16) float s[WIDTH / 4 * 64];
    const int at = threadIdx.x * (WIDTH / 4);
    __pipeline_memcpy_async(s + at, x + at, WIDTH, ZERO);
    __pipeline_commit();
    WAIT;
    for (int i = 0; i < WIDTH / 4; ++i) y[at + i] = s[at + i];
}
"""
EXECUTED = "smsp__inst_executed.sum"
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SHARED = ("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
          "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "smsp__sass_inst_executed_op_ldgsts.sum")


def copied(width, wait, zero=0, **how):
    n = width // 4 * 64
    x, y = np.arange(1, n + 1, dtype=np.float32), np.zeros(n, np.float32)
    x.flags.writeable = False
    report = simt.launch(COPY, "copy", 1, 64, [x, y], defines={"WIDTH": width, "WAIT": wait, "ZERO": zero}, **how)
    return x, y, report


@pytest.mark.parametrize("zero", [0, 4, None])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_sizes_and_zero_fill(width, zero):
    zero = width if zero is None else zero
    x, y, report = copied(width, "__pipeline_wait_prior(0)", zero, racecheck=True)
    wanted = x.reshape(64, -1).copy()
    wanted[:, (width - zero) // 4:] = 0
    assert (y == wanted.ravel()).all()
    assert not report.hazards
    requests, sectors = (report.counters[GLOBAL.format(what, "ld")] for what in ("requests", "sectors"))
    assert (requests, sectors) == ((2, 2 * width) if zero < width else (0, 0))
    assert [report.counters[name] for name in SHARED] == [2 * width // 4, 0, 2]


@pytest.mark.parametrize("wait", ["", "__pipeline_wait_prior(1)"])
def test_without_a_wait_the_old_bytes_are_read_and_reported(wait):
    _, y, report = copied(4, wait, racecheck=True)
    assert (y.view(np.uint32) == POISON).all()
    hazard, = report.hazards
    assert (hazard.kind, hazard.first_line, hazard.second_line, hazard.first_thread) == ("RAW", 6, 9, hazard.second_thread)
    assert hazard.count == 64
    _, y, _ = copied(4, wait)
    assert (y.view(np.uint32) == POISON).all()


@pytest.mark.slow
def test_groups_arrive_in_order_and_lane_by_lane():
    """Three groups; the lanes of the first half wait for all but two, the others for all but one."""
    source = HEAD + """
extern "C" __global__ void groups(const int* x, int* y) {
    __shared__ int s[3][32];
    for (int g = 0; g < 3; ++g) {
        __pipeline_memcpy_async(&s[g][threadIdx.x], &x[32 * g + threadIdx.x], 4);
        __pipeline_commit();
    }
    if (threadIdx.x < 16) __pipeline_wait_prior(2); else __pipeline_wait_prior(1);
    for (int g = 0; g < 3; ++g) y[32 * g + threadIdx.x] = s[g][threadIdx.x];
    asm volatile("cp.async.wait_all;");
    for (int g = 0; g < 3; ++g) y[96 + 32 * g + threadIdx.x] = s[g][threadIdx.x];
}
"""
    x, y = np.arange(96, dtype=np.int32), np.zeros(192, np.int32)
    simt.launch(source, "groups", 1, 32, [x, y])
    early, late = y[:96].reshape(3, 32), y[96:]
    arrived = early == x.reshape(3, 32)
    assert (arrived == [[True] * 32, [False] * 16 + [True] * 16, [False] * 32]).all()
    assert (early[~arrived] == POISON).all()
    assert (late == x).all()


def test_the_source_is_read_when_the_copy_is_issued():
    source = HEAD + """
extern "C" __global__ void k(int* x, int* y) {
    __shared__ int s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    x[threadIdx.x] = -1;
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[threadIdx.x];
}
"""
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    simt.launch(source, "k", 1, 32, [x, y])
    assert (y == np.arange(32)).all()
    assert (x == -1).all()


PTX = """.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[512];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 4;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    cvt.u64.u32 %rd3, %r2;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    setp.lt.u32 %p1, %r1, 5;
    and.b32 %r4, %r1, 15;
    mov.b64 %rd7, 0;
    .loc 1 9 0
    FORM;
    cp.async.wait_all;
    ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];
    st.global.v4.u32 [%rd5], {%r5, %r6, %r7, %r8};
    ret;
}
"""


@pytest.mark.parametrize(("form", "kept"), [
    ("cp.async.cg.shared.global [%r3], [%rd4], 16", lambda lane: 16),
    ("cp.async.cg.shared::cta.global.L2::128B [%r3], [%rd4], 16", lambda lane: 16),
    ("cp.async.cg.shared.global.L2::cache_hint.L2::64B [%r3], [%rd4], 16, %rd7", lambda lane: 16),
    ("cp.async.ca.shared.global.L2::256B [%r3], [%rd4], 16, %r4", lambda lane: lane & 15),
    ("cp.async.ca.shared.global [%r3], [%rd4], 16, %p1", lambda lane: 0 if lane < 5 else 16),
    ("cp.async.ca.shared.global [%r3], [%rd4], 16, !%p1", lambda lane: 16 if lane < 5 else 0),
    ("@%p1 cp.async.ca.shared.global [%r3], [%rd4], 16, 3", lambda lane: 3 if lane < 5 else None),
])
def test_written_forms(form, kept):
    x, y = np.arange(1, 513).astype(np.uint8).reshape(32, 16), np.zeros((32, 16), np.uint8)
    simt.launch(PTX.replace("FORM", form), "k", 1, 32, [x, y])
    for lane in range(32):
        n = kept(lane)
        wanted = np.where(np.arange(16) < n, x[lane], 0) if n is not None else np.tile(np.frombuffer(b"\xad\xdb\xba\x7f", np.uint8), 4)
        assert (y[lane] == wanted).all()


@pytest.mark.parametrize(("form", "error"), [
    ("cp.async.cg.shared.global [%r3], [%rd4], 8", simt.PtxSyntaxError),
    ("cp.async.ca.shared.global [%r3], [%rd4], 12", simt.PtxSyntaxError),
    ("cp.async.ca.shared.global [%r3], [%rd4]", simt.PtxSyntaxError),
    ("cp.async.cg.shared.global [%r3], [%rd4], 16, 17", simt.PtxSyntaxError),
    ("cp.async.cg.shared.shared [%r3], [%r3], 16", simt.UnsupportedInstruction),
    ("cp.async.wait_group %r1", simt.PtxSyntaxError),
    ("cp.async.ca.shared.global [%r3+4], [%rd4], 8", simt.Misaligned),
    ("cp.async.ca.shared.global [%r3], [%rd4+2], 4", simt.Misaligned),
    ("cp.async.ca.shared.global [%r3+16], [%rd4], 16", simt.OutOfBounds),
    ("cp.async.cg.shared.global [%r3], [%rd4+16], 16", simt.OutOfBounds),
    ("cp.async.cg.shared.global [%r3], [%rd4], 16, %r1", simt.InvalidOperand),
])
def test_errors_name_line_and_thread(form, error):
    x, y = np.zeros(128, np.uint32), np.zeros(128, np.uint32)
    with pytest.raises(error) as raised:
        simt.launch(PTX.replace("FORM", form), "k", 1, 32, [x, y])
    found = raised.value
    assert found.line == 9
    if error is simt.OutOfBounds:
        assert found.thread == (31, 0, 0)
        assert found.array == ("x" if "rd4+" in form else "shared")
        assert ("reads" if "rd4+" in form else "writes") in str(found)
    if error is simt.InvalidOperand:
        assert (found.thread, found.value) == ((17, 0, 0), 17)


def test_no_source_no_check():
    """A copy of no bytes may point anywhere; one inside the array may not be refused."""
    for form in ("cp.async.cg.shared.global [%r3], [%rd4+16], 16, 0", "cp.async.ca.shared.global [%r3], [%rd4+4], 4"):
        simt.launch(PTX.replace("FORM", form), "k", 1, 32, [np.zeros(128, np.uint32), np.zeros(128, np.uint32)])


TILED = HEAD + """
#define T 16
extern "C" __global__ void gemm(int N, const float* A, const float* B, float* C) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    __pipeline_memcpy_async(&As[0][ty][tx], &A[row * N + tx], 4);
    __pipeline_memcpy_async(&Bs[0][ty][tx], &B[ty * N + col], 4);
    __pipeline_commit();
    for (int k0 = 0, now = 0; k0 < N; k0 += T, now ^= 1) {
        if (k0 + T < N) {
            __pipeline_memcpy_async(&As[now ^ 1][ty][tx], &A[row * N + k0 + T + tx], 4);
            __pipeline_memcpy_async(&Bs[now ^ 1][ty][tx], &B[(k0 + T + ty) * N + col], 4);
        }
        __pipeline_commit();
        WAIT;
        FIRST_BARRIER;
        for (int k = 0; k < T; ++k) acc += As[now][ty][k] * Bs[now][k][tx];
        SECOND_BARRIER;
    }
    C[row * N + col] = acc;
}
"""
RIGHT = {"WAIT": "__pipeline_wait_prior(1)", "FIRST_BARRIER": "__syncthreads()", "SECOND_BARRIER": "__syncthreads()"}


def tiled(N=64, **changed):
    rng = np.random.default_rng(3)
    A, B, C = rng.standard_normal((N, N), np.float32), rng.standard_normal((N, N), np.float32), np.zeros((N, N), np.float32)
    how = {k: changed.pop(k) for k in list(changed) if k not in RIGHT}
    report = simt.launch(TILED, "gemm", (N // 16, N // 16), (16, 16), [np.int32(N), A, B, C], defines={**RIGHT, **changed}, **how)
    exact = A.astype(float) @ B
    return abs(C - exact).max() < 1e-4, report


def test_a_double_buffered_product():
    right, report = tiled()
    assert right
    blocks, steps, warps = 16, 4, 8
    assert report.counters[GLOBAL.format("requests", "ld")] == 2 * blocks * steps * warps
    assert report.counters[GLOBAL.format("sectors", "ld")] == 2 * blocks * steps * warps * 4
    assert report.counters[SHARED[2]] == 2 * blocks * steps * warps
    right, report = tiled(32, racecheck=True, warp_order="interleaved")
    assert right
    assert not report.hazards


@pytest.mark.parametrize(("changed", "kinds"), [
    ({"WAIT": ""}, {"RAW", "WAW"}), ({"WAIT": "__pipeline_wait_prior(2)"}, {"RAW", "WAW"}),
    ({"FIRST_BARRIER": ""}, {"RAW", "WAR", "uninitialised"}), ({"SECOND_BARRIER": ""}, {"RAW", "WAR", "WAW"}),
])
def test_what_is_missing_in_the_double_buffer_is_found(changed, kinds):
    right, report = tiled(64, racecheck=True, **changed)
    found = {h.kind for h in report.hazards}
    assert found
    assert found <= kinds
    assert {h.first_line for h in report.hazards} <= {8, 9, 13, 14, 19}
    if "WAIT" in changed:
        assert not right


def test_more_copies_than_the_queue_holds():
    source = HEAD + """
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ int s[300][32];
    for (int i = 0; i < 300; ++i) __pipeline_memcpy_async(&s[i][threadIdx.x], &x[32 * i + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 300; ++i) y[32 * i + threadIdx.x] = s[i][threadIdx.x];
}
"""
    x, y = np.arange(9600, dtype=np.int32), np.zeros(9600, np.int32)
    simt.launch(source, "k", 2, 32, [x, y])
    assert (x == y).all()


@pytest.mark.slow
def test_cooperative_groups_copy():
    source = """
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ __align__(16) float s[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x, sizeof(float) * n);
    cg::wait(block);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s[n - 1 - i];
}
"""
    for n in (256, 200, 7):
        x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
        report = simt.launch(source, "k", 1, 64, [x, y, np.int32(n)], racecheck=True)
        assert (y == x[::-1]).all()
        assert not report.hazards
