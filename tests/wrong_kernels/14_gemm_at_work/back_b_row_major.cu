// back_b_row_major.cu -- reads B as K rows of N
//
// Part             back
// Must fail for    wrong: B[col * ldb + k]
#define TILE 32
#define ROWS 8
extern "C" __global__ void
back(int M, int N, int K, const float* A, int lda, const float* H, int ldh, const float* B, int ldb, float* C, int ldc) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, block_col = blockIdx.x * TILE;
    float acc[TILE / ROWS] = {};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int k = k0 + tx;
        for (int i = ty; i < TILE; i += ROWS) {
            const int row = block_row + i, col = block_col + i;
            const float a = row < M && k < K ? A[row * lda + k] : 0.0f;
            const float h = row < M && k < K ? H[row * ldh + k] : 0.0f;
            As[i][tx] = h > 0.0f ? a : 0.0f;
            Bs[i][tx] = k0 + i < K && block_col + tx < N ? B[(k0 + i) * ldb + block_col + tx] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE; ++j)
            for (int i = 0; i < TILE / ROWS; ++i)
                acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];
        __syncthreads();
    }
    for (int i = 0; i < TILE / ROWS; ++i)
        if (const int row = block_row + ty + i * ROWS; row < M && block_col + tx < N)
            C[row * ldc + block_col + tx] = acc[i];
}
