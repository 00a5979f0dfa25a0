// wmma_int8.cu -- 8-bit integer tiles by wmma
//
// Computes  C[16 M,16 N] = A[16 M,K] @ B[K,16 N], K a multiple of 16
// Idea      a fragment is a tile spread over the registers of a warp
// Launch    grid (N, M) in tiles, block 32
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void wmma_int8(int N, int K, const signed char* A, const signed char* B, int* C) {
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;
    fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
    fragment<matrix_b, 16, 16, 16, signed char, row_major> b;
    fragment<accumulator, 16, 16, 16, int> c;
    fill_fragment(c, int(0));
    for (int k = 0; k < K; k += 16) {
        load_matrix_sync(a, A + row * K + k, K);
        load_matrix_sync(b, B + k * N + col, N);
        mma_sync(c, a, b, c);
    }
    store_matrix_sync(C + row * N + col, c, N, mem_row_major);
}
