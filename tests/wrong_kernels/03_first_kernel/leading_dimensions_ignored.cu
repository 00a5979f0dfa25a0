// leading_dimensions_ignored.cu -- rows are K or N elements apart
//
// Part             main
// Must fail for    wrong: NaN stands between the rows
extern "C" __global__ void
two_columns(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M) return;
    for (int c = col; c < N && c <= col + 16; c += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + c];
        float* out = &C[row * N + c];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
