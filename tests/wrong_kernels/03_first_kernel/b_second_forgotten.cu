// b_second_forgotten.cu -- one element a thread
//
// Part             main-b
// Must fail for    wrong: the second elements of the threads, 16 rows down
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    const int col = blockIdx.y * 16 + threadIdx.y;
    if (col >= N) return;
    for (int r = row; r < M && r <= row; r += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[k * lda + r] * B[col * ldb + k];
        float* out = &C[col * ldc + r];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
