// lanes_eight_threads.cu -- right; one sector per request, but only 8 lanes share them
//
// Part             lanes
// Must fail for    gate: 0.2500
#define BM 1
#define BN 8
extern "C" __global__ void
lanes(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    const int t = threadIdx.x;
    const int row = blockIdx.y * BM + t / BN;
    const int col = blockIdx.x * BN + t % BN;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[k * lda + row] * B[k * ldb + col];
    float* c = &C[row * ldc + col];
    *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
}
