// gemm_async.cu -- tiles copied by cp.async while the last ones are used
//
// Computes  C[M,N] = A[M,K] @ B[K,N], multiples of 32
// Idea      two buffers; copies of 16 and of 4 bytes that do not pass through registers
// Launch    grid (N/32, M/32), block (32, 8)
#include <cuda_pipeline.h>

extern "C" __global__ void gemm_async(int M, int N, int K, const float* A, const float* B, float* C) {
    __shared__ __align__(16) float As[2][32][32], Bs[2][32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float sum[4] = {};
    auto fetch = [&](int k0, int b) {
        __pipeline_memcpy_async(&Bs[b][t / 8][t % 8 * 4], &B[(k0 + t / 8) * N + col0 + t % 8 * 4], 16);
        for (int i = ty; i < 32; i += 8) __pipeline_memcpy_async(&As[b][i][tx], &A[(row0 + i) * K + k0 + tx], 4);
        __pipeline_commit();
    };
    fetch(0, 0);
    for (int k0 = 0, b = 0; k0 < K; k0 += 32, b ^= 1) {
        if (k0 + 32 < K) {
            fetch(k0 + 32, b ^ 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();                       // everybody's copies of this buffer have arrived
        for (int k = 0; k < 32; ++k)
            for (int i = 0; i < 4; ++i) sum[i] += As[b][ty * 4 + i][k] * Bs[b][k][tx];
        __syncthreads();                       // all have read this buffer
    }
    for (int i = 0; i < 4; ++i) C[(row0 + ty * 4 + i) * N + col0 + tx] = sum[i];
}
