// b_barrier_missing.cu -- fills the next tiles while others still read
//
// Part             main-b
// Must fail for    hazard: of the next round
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
transposed_b(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BN][BK];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + tx;
    const int b_col = blockIdx.x * BN + ty;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = b_col < N && k0 + tx < K ? B[b_col * ldb + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[tx][k];
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
