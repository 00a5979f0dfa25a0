// not_tiled.cu -- right, but every multiply-add loads both operands again
//
// Part             tile
// Must fail for    gate: 0.1250
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
tiled(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    if (row < M && col < N)
        for (int k = 0; k < K; ++k)
            acc += A[row * lda + k] * B[k * ldb + col];
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
