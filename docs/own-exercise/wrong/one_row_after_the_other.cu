// one_row_after_the_other.cu -- right, and loads B twice
//
// Part             main
// Must fail for    gate: load requests per multiply-add
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc[2] = {};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < K && row + 8 * i < M; ++k)
            acc[i] += A[(row + 8 * i) * lda + k] * B[k * ldb + col];
    for (int i = 0; i < 2; ++i)
        if (row + 8 * i < M) {
            float* c = &C[(row + 8 * i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
