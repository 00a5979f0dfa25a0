// gemm_column_tile.cu -- each thread makes a column of eight elements
//
// Computes  C[M,N] = A[M,K] @ B[K,N], M and N multiples of 32, K of 8
// Idea      one element of B in a register serves eight products
// Launch    grid (N/32, M/32), block 128
extern "C" __global__ void gemm_column_tile(int M, int N, int K, const float* A, const float* B, float* C) {
    __shared__ float As[32][8], Bs[8][32];
    const int t = threadIdx.x, tx = t % 32, ty = t / 32, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float sum[8] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int k = t; k < 256; k += 128) {
            As[k / 8][k % 8] = A[(row0 + k / 8) * K + k0 + k % 8];
            Bs[k / 32][k % 32] = B[(k0 + k / 32) * N + col0 + k % 32];
        }
        __syncthreads();                       // both tiles are complete
        for (int k = 0; k < 8; ++k) {
            const float b = Bs[k][tx];
            for (int i = 0; i < 8; ++i) sum[i] += As[ty * 8 + i][k] * b;
        }
        __syncthreads();                       // all have read them
    }
    for (int i = 0; i < 8; ++i) C[(row0 + ty * 8 + i) * N + col0 + tx] = sum[i];
}
