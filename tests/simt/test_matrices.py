"""`ldmatrix`, `stmatrix`, `movmatrix`: who gets which element, in how many wavefronts, and what is refused; a whole tensor-core product."""

import numpy as np
import pytest
import tensor_model as model

from course_lib import simt

EXECUTED, STORED = "smsp__sass_inst_executed_op_ldsm.sum", "smsp__sass_inst_executed_op_shared_stsm.sum"
WAVEFRONTS, CONFLICTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
LOAD = r"""
extern "C" __global__ void k(const unsigned short* x, unsigned* y) {
    __shared__ __align__(16) unsigned short s[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) s[i] = x[i];
    __syncthreads();
    unsigned at = __cvta_generic_to_shared(s + (ROW(threadIdx.x))), r[4] = {0, 0, 0, 0};
    asm volatile(OP : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = r[i];
}
"""
STORE = r"""
extern "C" __global__ void k(const unsigned* x, unsigned short* y) {
    __shared__ __align__(16) unsigned short s[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) s[i] = 0;
    __syncthreads();
    unsigned at = __cvta_generic_to_shared(s + (ROW(threadIdx.x)));
    const unsigned* r = x + threadIdx.x * 4;
    asm volatile(OP :: "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(at) : "memory");
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 32) y[i] = s[i];
}
"""


def spelled(name, count, trans):
    registers = "{" + ", ".join(f"%{i}" for i in range(count)) + "}"
    op = f"{name}.sync.aligned.m8n8.x{count}{'.trans' * trans}.shared.b16"
    return f'"{op} {registers}, [%4];"' if name == "ldmatrix" else f'"{op} [%4], {registers};"'


def rows_of(count, ld):
    """Start of each of the 8 * count rows, in elements: the matrices lie side by side."""
    return np.array([i % 8 * ld + i // 8 * 8 for i in range(32)]) if ld >= 32 else np.arange(32) * ld


def fragments(memory, starts, count, trans):
    """Return the (32, count, 2) elements that the manual gives the lanes."""
    lanes = np.zeros((32, count, 2), np.uint16)
    for lane in range(32):
        for i in range(count):
            for h in range(2):
                row, column = lane // 4, lane % 4 * 2 + h
                if trans:
                    row, column = column, row
                lanes[lane, i, h] = memory[starts[8 * i + row] + column]
    return lanes


def wavefronts(starts, count):
    """Each matrix is a phase: the largest number of its 16-byte rows that want the same banks."""
    return sum(np.bincount(np.array(starts[8 * i:8 * i + 8]) * 2 // 16 % 8).max() for i in range(count))


@pytest.mark.sampled(test=2, slow=9)
@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("ld", [8, 16, 32, 40, 64])
def test_ldmatrix_and_stmatrix(count, trans, ld):
    starts = rows_of(count, ld)
    formula = f"({ld} >= 32 ? (i) % 8 * {ld} + (i) / 8 * 8 : (i) * {ld})".replace("(i)", "int(i)")
    x = np.random.default_rng(ld).integers(0, 65536, 2048, dtype=np.uint16)
    y = np.zeros((32, 4), np.uint32)
    report = simt.launch(f"#define ROW(i) {formula}\n" + LOAD, "k", 1, 32, [x, y], defines={"OP": spelled("ldmatrix", count, trans)},
                         racecheck=True)
    wanted = fragments(x, starts, count, trans)
    assert np.array_equal(y[:, :count].copy().view(np.uint16).reshape(32, count, 2), wanted)
    assert not report.hazards
    waves = wavefronts(starts, count)
    assert [report.counters[name.format("ld")] for name in (EXECUTED, WAVEFRONTS, CONFLICTS)] == [1, waves, waves - count]
    back = np.zeros(2048, np.uint16)
    report = simt.launch(f"#define ROW(i) {formula}\n" + STORE, "k", 1, 32, [y, back], defines={"OP": spelled("stmatrix", count, trans)})
    touched = np.zeros(2048, bool)
    for start in starts[:8 * count]:
        touched[start:start + 8] = True
    assert np.array_equal(back, np.where(touched, x, 0))
    clear = 64 * 1  # sixteen-bit zeros: 64 stores of the warp without a conflict
    assert [report.counters[name.format("st")] for name in (STORED, WAVEFRONTS)] == [1, clear + waves]


def test_movmatrix():
    source = """
extern "C" __global__ void k(const unsigned* x, unsigned* y) {
    unsigned d;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(x[threadIdx.x]));
    y[threadIdx.x] = d;
}
"""
    x, y = np.random.default_rng(0).integers(0, 65536, 64, dtype=np.uint16), np.zeros(64, np.uint16)
    simt.launch(source, "k", 1, 32, [x.view(np.uint32), y.view(np.uint32)])
    assert np.array_equal(y.reshape(8, 8), x.reshape(8, 8).T)


@pytest.mark.parametrize(("row", "error"), [("int(i) * 8 + (int(i) == 9)", simt.Misaligned),
                                            ("int(i) * 8 + (int(i) == 9) * 4", simt.Misaligned),
                                            ("int(i) == 9 ? 2048 : 0", simt.OutOfBounds), ("int(i) == 20 ? 2041 : 0", None)])
def test_wrong_rows_are_named(row, error):
    """An x2 looks at the addresses of lanes 0 to 15 alone."""
    args = [np.zeros(2048, np.uint16), np.zeros((32, 4), np.uint32)]
    launch = {"source": f"#define ROW(i) {row}\n" + LOAD, "defines": {"OP": spelled("ldmatrix", 2, False)}}
    if error is None:
        simt.launch(launch["source"], "k", 1, 32, args, defines=launch["defines"])
        return
    with pytest.raises(error) as raised:
        simt.launch(launch["source"], "k", 1, 32, args, defines=launch["defines"])
    assert (raised.value.thread, raised.value.line) == ((9, 0, 0), 8)


def test_ldmatrix_without_a_barrier_is_found():
    source = "#define ROW(i) int(i) * 8\n" + LOAD.replace("__syncthreads();", "").replace("i < 2048; i += 32", "i < 2048; i += 64")
    report = simt.launch(source, "k", 1, 64, [np.zeros(2048, np.uint16), np.zeros((64, 4), np.uint32)],
                         defines={"OP": spelled("ldmatrix", 4, False)}, racecheck=True, warp_order="reverse")
    assert {(h.kind, h.second_line) for h in report.hazards if h.second_line == 8} >= {("RAW", 8)}


GEMM = r"""
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
// C[M, N] (float) = A[M, K] @ B[K, N] (half): 64 x 64 a block of four warps, 32 x 32 a warp, two stages of cp.async, ldmatrix, mma
constexpr int BK = 32, LDA = BK + 8, LDB = 64 + 8;
__device__ unsigned shared_address(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void stage(half (*As)[LDA], half (*Bs)[LDB], const half* A, const half* B, int k, int N, int K) {
    for (int i = threadIdx.x; i < 64 * BK / 8; i += 128)
        __pipeline_memcpy_async(&As[i / (BK / 8)][i % (BK / 8) * 8], A + (blockIdx.y * 64 + i / (BK / 8)) * K + k + i % (BK / 8) * 8, 16);
    for (int i = threadIdx.x; i < BK * 64 / 8; i += 128)
        __pipeline_memcpy_async(&Bs[i / 8][i % 8 * 8], B + (k + i / 8) * N + blockIdx.x * 64 + i % 8 * 8, 16);
}
extern "C" __global__ void gemm(int N, int K, const half* A, const half* B, float* C) {
    __shared__ __align__(16) half As[2][64][LDA], Bs[2][BK][LDB];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, m0 = warp / 2 * 32, n0 = warp % 2 * 32;
    float c[2][4][4] = {};
    stage(As[0], Bs[0], A, B, 0, N, K);
    __pipeline_commit();
    for (int k = 0, now = 0; k < K; k += BK, now ^= 1) {
        if (k + BK < K) stage(As[now ^ 1], Bs[now ^ 1], A, B, k + BK, N, K);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int kk = 0; kk < BK; kk += 16) {
            unsigned a[2][4], b[4][2];
            for (int i = 0; i < 2; ++i)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                             : "r"(shared_address(&As[now][m0 + 16 * i + lane % 16][kk + lane / 16 * 8])));
            for (int j = 0; j < 4; ++j)
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(b[j][0]), "=r"(b[j][1]) : "r"(shared_address(&Bs[now][kk + lane % 16][n0 + 8 * j])));
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 4; ++j)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = m0 + 16 * i + lane / 4 + e / 2 * 8, column = n0 + 8 * j + lane % 4 * 2 + e % 2;
                C[(blockIdx.y * 64 + row) * N + blockIdx.x * 64 + column] = c[i][j][e];
            }
}
"""


def test_a_tensor_core_product_with_a_pipeline():
    M, N, K = 64, 128, 96
    rng = np.random.default_rng(1)
    A, B, C = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16), np.zeros((M, N), np.float32)
    report = simt.launch(GEMM, "gemm", (N // 64, M // 64), 128, [np.int32(N), np.int32(K), A, B, C], racecheck=True)
    assert not report.hazards
    wanted = model.multiply(A[:8].astype(float), B.astype(float), np.zeros((8, N)), "f16", "f32", 16).view(np.float32)
    assert np.array_equal(C[:8], wanted)
    assert abs(C - A.astype(float) @ B).max() < 1e-4
    warps, steps = 2 * 4, K // 16
    assert report.counters["smsp__inst_executed_pipe_tensor_op_hmma.sum"] == warps * steps * 8
    assert report.counters[EXECUTED.format("ld")] == warps * steps * 6
    assert report.counters[CONFLICTS.format("ld")] == 0  # rows 80 and 144 bytes apart
    assert report.counters[WAVEFRONTS.format("ld")] == warps * steps * (2 * 4 + 4 * 2)
