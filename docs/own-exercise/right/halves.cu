// halves.cu -- another right one: a block's two halves by pointers
//
// Part             main
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (col >= N || row >= M) return;
    const bool both = row + 8 < M;
    const float *upper = A + row * lda, *lower = both ? upper + 8 * lda : upper;
    float sum = 0.0f, other = 0.0f;
    for (const float* b = B + col; upper != A + row * lda + K; ++upper, ++lower, b += ldb) {
        const float factor = *b;
        sum = fmaf(*upper, factor, sum);
        other = fmaf(*lower, factor, other);
    }
    float* c = C + row * ldc + col;
    *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
    if (!both) return;
    c += 8 * ldc;
    *c = beta == 0.0f ? alpha * other : alpha * other + beta * *c;
}
