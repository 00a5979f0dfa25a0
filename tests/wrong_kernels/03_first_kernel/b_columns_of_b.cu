// b_columns_of_b.cu -- columns of B are M elements apart, as in a square matrix
//
// Part             main-b
// Must fail for    wrong: The columns of B are taken M elements apart
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    const int col = blockIdx.y * 16 + threadIdx.y;
    if (col >= N) return;
    for (int r = row; r < M && r <= row + 16; r += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[k * lda + r] * B[col * M + k];
        float* out = &C[col * ldc + r];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
