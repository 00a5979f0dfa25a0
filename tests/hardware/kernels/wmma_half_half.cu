// wmma_half_half.cu -- half-precision tiles with half-precision sums, tiles by wmma
//
// Computes  C[32 M,8 N] = A[32 M,K] @ B[K,8 N], K a multiple of 16
// Idea      a fragment is a tile spread over the registers of a warp
// Launch    grid (N, M) in tiles, block 32
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void wmma_half_half(int N, int K, const __half* A, const __half* B, __half* C) {
    const int row = blockIdx.y * 32, col = blockIdx.x * 8;
    fragment<matrix_a, 32, 8, 16, __half, row_major> a;
    fragment<matrix_b, 32, 8, 16, __half, row_major> b;
    fragment<accumulator, 32, 8, 16, __half> c;
    fill_fragment(c, __half(0));
    for (int k = 0; k < K; k += 16) {
        load_matrix_sync(a, A + row * K + k, K);
        load_matrix_sync(b, B + k * N + col, N);
        mma_sync(c, a, b, c);
    }
    store_matrix_sync(C + row * N + col, c, N, mem_row_major);
}
