// loads_only.cu -- both loads are coalesced, the store is not
//
// Part             main
// Must fail for    gate: sectors per store request: 16.0000
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
transposed_a(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BK][BM], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + tx;
    const int col = blockIdx.x * BN + ty;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = k0 + ty < K && row < M ? A[(k0 + ty) * lda + row] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && blockIdx.x * BN + tx < N ? B[(k0 + ty) * ldb + blockIdx.x * BN + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[k][tx] * Bs[k][ty];
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
