// one_operand_tiled.cu -- right, but B still comes from global memory
//
// Part             tile
// Must fail for    gate: 0.0703
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
tiled(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * (k0 + k < K && col < N ? B[(k0 + k) * ldb + col] : 0.0f);
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
