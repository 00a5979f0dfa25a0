// second_unguarded.cu -- loads the second row where there is none
//
// Part             main
// Must fail for    out of bounds
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc[2] = {};
    for (int k = 0; k < K; ++k) {
        const float b = B[k * ldb + col];
        acc[0] += A[row * lda + k] * b;
        acc[1] += A[(row + 8) * lda + k] * b;
    }
    for (int i = 0; i < 2; ++i)
        if (row + 8 * i < M) {
            float* c = &C[(row + 8 * i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
