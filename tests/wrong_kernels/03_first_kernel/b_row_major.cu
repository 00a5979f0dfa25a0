// b_row_major.cu -- takes its matrices as row-major
//
// Part             main-b
// Must fail for    wrong: or all three matrices are taken as row-major
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    const int col = blockIdx.y * 16 + threadIdx.y;
    if (col >= N) return;
    for (int r = row; r < M && r <= row + 16; r += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[r * lda + k] * B[k * ldb + col];
        float* out = &C[r * ldc + col];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
