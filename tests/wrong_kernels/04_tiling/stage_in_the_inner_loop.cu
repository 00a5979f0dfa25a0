// stage_in_the_inner_loop.cu -- right, but the tile is loaded again for every k
//
// Part             stage
// Must fail for    gate: 0.1875
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
stage_a(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK)
        for (int k = 0; k < BK; ++k) {
            As[ty][tx] = A[row * lda + k0 + tx];
            __syncthreads();
            acc += As[ty][k] * B[(k0 + k) * ldb + col];
            __syncthreads();
        }
    C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}
