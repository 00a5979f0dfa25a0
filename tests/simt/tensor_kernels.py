"""CUDA C around single tensor instructions: registers come from arrays, one row a lane, one block (of one warp) a case."""

C_TYPES = {"f": "float", "d": "double", "r": "unsigned"}


def mma_kernel(op, counts, letters=("r", "r", "r", "r")):
    """Return the source of `k(D, A, B, C)`; `counts`: registers of D, A, B, C; `letters`: their asm constraints."""
    nd, na, nb, nc = counts
    names, at = [], 0
    for n in counts:
        names.append("{" + ", ".join(f"%{at + i}" for i in range(n)) + "}")
        at += n
    d, a, b, c = letters
    listed = [", ".join(f'"{"=" * (v == "d")}{letter}"({v}[{i}])' for i in range(n)) for v, letter, n in zip("dabc", letters, counts)]
    t = {v: C_TYPES[letter] for v, letter in zip("dabc", letters)}
    return f"""
extern "C" __global__ void k({t['d']}* D, const {t['a']}* A, const {t['b']}* B, const {t['c']}* C) {{
    const int lane = blockIdx.x * 32 + threadIdx.x;
    {t['d']} d[{nd}]; {t['a']} a[{na}]; {t['b']} b[{nb}]; {t['c']} c[{nc}];
    for (int i = 0; i < {na}; ++i) a[i] = A[lane * {na} + i];
    for (int i = 0; i < {nb}; ++i) b[i] = B[lane * {nb} + i];
    for (int i = 0; i < {nc}; ++i) c[i] = C[lane * {nc} + i];
    asm volatile("{op} {', '.join(names)};" : {listed[0]} : {', '.join(listed[1:])});
    for (int i = 0; i < {nd}; ++i) D[lane * {nd} + i] = d[i];
}}
"""


WMMA_GEMM = r"""
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
// C[m, n] = A[m, k] * B[k, n] for one tile a block, A and B in `LAYOUT_A` and `LAYOUT_B`, through shared memory when STAGED
extern "C" __global__ void k(const TYPE* A, const TYPE* B, const OUT* Cin, OUT* D, int K, int lda, int ldb, int ldc) {
    wmma::fragment<wmma::matrix_a, TILE_M, TILE_N, TILE_K, FACTOR, wmma::LAYOUT_A> a;
    wmma::fragment<wmma::matrix_b, TILE_M, TILE_N, TILE_K, FACTOR, wmma::LAYOUT_B> b;
    wmma::fragment<wmma::accumulator, TILE_M, TILE_N, TILE_K, OUT> c;
#ifdef STAGED
    __shared__ __align__(32) TYPE As[TILE_M * TILE_K], Bs[TILE_K * TILE_N];
    __shared__ __align__(32) OUT Cs[TILE_M * TILE_N];
    const bool row_a = IS_ROW_A, row_b = IS_ROW_B;
    for (int i = threadIdx.x; i < TILE_M * TILE_N; i += 32)
        Cs[i] = Cin[IS_ROW_C ? i / TILE_N * ldc + i % TILE_N : i / TILE_M * ldc + i % TILE_M];
    __syncthreads();
    wmma::load_matrix_sync(c, Cs, IS_ROW_C ? TILE_N : TILE_M, LAYOUT_C);
#else
    wmma::load_matrix_sync(c, Cin, ldc, LAYOUT_C);
#endif
    for (int k = 0; k < K; k += TILE_K) {
#ifdef STAGED
        for (int i = threadIdx.x; i < TILE_M * TILE_K; i += 32)
            As[i] = row_a ? A[i / TILE_K * lda + k + i % TILE_K] : A[(k + i / TILE_M) * lda + i % TILE_M];
        for (int i = threadIdx.x; i < TILE_K * TILE_N; i += 32)
            Bs[i] = row_b ? B[(k + i / TILE_N) * ldb + i % TILE_N] : B[i / TILE_K * ldb + k + i % TILE_K];
        __syncthreads();
        wmma::load_matrix_sync(a, As, row_a ? TILE_K : TILE_M);
        wmma::load_matrix_sync(b, Bs, row_b ? TILE_N : TILE_K);
#else
        wmma::load_matrix_sync(a, A + (IS_ROW_A ? k : k * lda), lda);
        wmma::load_matrix_sync(b, B + (IS_ROW_B ? k * ldb : k), ldb);
#endif
        wmma::mma_sync(c, a, b, c);
        __syncthreads();
    }
#ifdef STAGED
    wmma::store_matrix_sync(Cs, c, IS_ROW_C ? TILE_N : TILE_M, LAYOUT_C);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_M * TILE_N; i += 32)
        D[IS_ROW_C ? i / TILE_N * ldc + i % TILE_N : i / TILE_M * ldc + i % TILE_M] = Cs[i];
#else
    wmma::store_matrix_sync(D, c, ldc, LAYOUT_C);
#endif
}
"""


def wmma_defines(shape, kind, out, rows, staged):
    """Return the -D parameters of WMMA_GEMM; `rows`: whether A, B and C are row-major."""
    types = {"f16": ("__half", "__half"), "bf16": ("__nv_bfloat16", "__nv_bfloat16"), "tf32": ("float", "wmma::precision::tf32"),
             "f64": ("double", "double"), "s8": ("signed char", "signed char"), "u8": ("unsigned char", "unsigned char")}
    names = {"f16": "__half", "f32": "float", "f64": "double", "s32": "int"}
    found = {"TILE_M": shape[0], "TILE_N": shape[1], "TILE_K": shape[2], "TYPE": types[kind][0], "FACTOR": types[kind][1],
             "OUT": names[out]}
    for name, row in zip("ABC", rows):
        found[f"LAYOUT_{name}"] = f"{'' if name != 'C' else 'wmma::mem_'}{'row' if row else 'col'}_major"
        found[f"IS_ROW_{name}"] = int(row)
    return {**found, "STAGED": 1} if staged else found
