// gemm_register_tile.cu -- each thread makes 4 x 4 elements
//
// Computes  C[M,N] = A[M,K] @ B[K,N], M and N multiples of 64, K of 8
// Idea      eight loads from shared memory feed sixteen products
// Launch    grid (N/64, M/64), block (16, 16)
extern "C" __global__ void __launch_bounds__(256)
gemm_register_tile(int M, int N, int K, const float* A, const float* B, float* C) {
    __shared__ float As[8][64], Bs[8][64];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[4][4] = {}, a[4], b[4];
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int k = t; k < 512; k += 256) {
            As[k % 8][k / 8] = A[(row0 + k / 8) * K + k0 + k % 8];
            Bs[k / 64][k % 64] = B[(k0 + k / 64) * N + col0 + k % 64];
        }
        __syncthreads();                       // both tiles are complete
#pragma unroll
        for (int k = 0; k < 8; ++k) {
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = As[k][ty * 4 + i], b[i] = Bs[k][tx * 4 + i];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();                       // all have read them
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) C[(row0 + ty * 4 + i) * N + col0 + tx * 4 + j] = sum[i][j];
}
