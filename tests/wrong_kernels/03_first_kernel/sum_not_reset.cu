// sum_not_reset.cu -- the second element begins with the sum of the first
//
// Part             main
// Must fail for    wrong: C[0][16] is
extern "C" __global__ void
two_columns(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M) return;
    float acc = 0.0f;
    for (int c = col; c < N && c <= col + 16; c += 16) {
        for (int k = 0; k < K; ++k)
            acc += A[row * lda + k] * B[k * ldb + c];
        float* out = &C[row * ldc + c];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
