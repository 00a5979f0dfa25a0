// wmma_double.cu -- double-precision tiles by wmma
//
// Computes  C[8 M,8 N] = A[8 M,K] @ B[K,8 N], K a multiple of 4
// Idea      a fragment is a tile spread over the registers of a warp
// Launch    grid (N, M) in tiles, block 32
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void wmma_double(int N, int K, const double* A, const double* B, double* C) {
    const int row = blockIdx.y * 8, col = blockIdx.x * 8;
    fragment<matrix_a, 8, 8, 4, double, row_major> a;
    fragment<matrix_b, 8, 8, 4, double, row_major> b;
    fragment<accumulator, 8, 8, 4, double> c;
    fill_fragment(c, double(0));
    for (int k = 0; k < K; k += 4) {
        load_matrix_sync(a, A + row * K + k, K);
        load_matrix_sync(b, B + k * N + col, N);
        mma_sync(c, a, b, c);
    }
    store_matrix_sync(C + row * N + col, c, N, mem_row_major);
}
