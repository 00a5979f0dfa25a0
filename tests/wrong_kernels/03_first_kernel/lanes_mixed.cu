// lanes_mixed.cu -- divides by BN and takes the rest by BM
//
// Part             lanes
// Must fail for    wrong: never written
#define BM 16
#define BN 32
extern "C" __global__ void
lanes(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    const int t = threadIdx.x;
    const int row = blockIdx.y * BM + t / BN;
    const int col = blockIdx.x * BN + t % BM;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[k * lda + row] * B[k * ldb + col];
    float* c = &C[row * ldc + col];
    *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
}
