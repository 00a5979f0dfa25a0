// rows_from_x.cu -- row and column are exchanged, the launch is not
//
// Part             main
// Must fail for    wrong: never written
extern "C" __global__ void
two_columns(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * 16 + threadIdx.x;
    const int col = blockIdx.y * 32 + threadIdx.y;
    if (row >= M) return;
    for (int c = col; c < N && c <= col + 16; c += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * lda + k] * B[k * ldb + c];
        float* out = &C[row * ldc + c];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
