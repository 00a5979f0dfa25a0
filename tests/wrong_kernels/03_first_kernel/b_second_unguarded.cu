// b_second_unguarded.cu -- the guard is for the first element of a thread only
//
// Part             main-b
// Must fail for    out of bounds: A has
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    const int col = blockIdx.y * 16 + threadIdx.y;
    if (col >= N || row >= M) return;
    for (int r = row; r <= row + 16; r += 16) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[k * lda + r] * B[col * ldb + k];
        float* out = &C[col * ldc + r];
        *out = alpha * acc + (beta == 0.0f ? 0.0f : beta * *out);
    }
}
