// wide_larger_tile.cu -- a larger tile, one float a load
//
// Part             wide
// Must fail for    gate: load requests per multiply-add: 0.0020
#define BM 32
#define BN 32
#define BK 32
extern "C" __global__ void
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}
