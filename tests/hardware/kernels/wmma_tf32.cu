// wmma_tf32.cu -- TF32 tiles by wmma
//
// Computes  C[16 M,16 N] = A[16 M,K] @ B[K,16 N], K a multiple of 8
// Idea      a fragment is a tile spread over the registers of a warp
// Launch    grid (N, M) in tiles, block 32
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void wmma_tf32(int N, int K, const float* A, const float* B, float* C) {
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> a;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> b;
    fragment<accumulator, 16, 16, 8, float> c;
    fill_fragment(c, float(0));
    for (int k = 0; k < K; k += 8) {
        load_matrix_sync(a, A + row * K + k, K);
        load_matrix_sync(b, B + k * N + col, N);
        for (int i = 0; i < a.num_elements; ++i) a.x[i] = __float_to_tf32(a.x[i]);
        for (int i = 0; i < b.num_elements; ++i) b.x[i] = __float_to_tf32(b.x[i]);
        mma_sync(c, a, b, c);
    }
    store_matrix_sync(C + row * N + col, c, N, mem_row_major);
}
