// b_down_a_column.cu -- right, but each thread loads its own column of B, and lanes jump from row to row
//
// Part             main-b
// Must fail for    gate: sectors per load request: 10.0000
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
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[tx][ty] = col < N && k0 + ty < K ? B[col * ldb + k0 + ty] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
