// turned_twice.cu -- turns the tile of A when it is filled, and again when it is read
//
// Part             main
// Must fail for    wrong: Each tile of A is used transposed
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
transposed_a(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BK][BM], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    float acc = 0.0f;
    const int row = block_row + ty;
    const int col = block_col + tx;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[tx][ty] = k0 + ty < K && block_row + tx < M ? A[(k0 + ty) * lda + block_row + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[k][ty] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
