// not_tiled.cu -- few sectors a request, because lanes ask for the same again and again
//
// Part             main
// Must fail for    gate: sectors loaded per multiply-add: 0.0938
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
transposed_a(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * BM + threadIdx.y;
    const int col = blockIdx.x * BN + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[k * lda + row] * B[k * ldb + col];
    C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}
