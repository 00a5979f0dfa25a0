// back_masks_the_result.cu -- sets C to 0 where H is 0
//
// Part             back
// Must fail for    wrong: The result is set to 0 where H is 0
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
            As[i][tx] = a;
            Bs[tx][i] = col < N && k < K ? B[col * ldb + k] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE; ++j)
            for (int i = 0; i < TILE / ROWS; ++i)
                acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];
        __syncthreads();
    }
    for (int i = 0; i < TILE / ROWS; ++i)
        if (const int row = block_row + ty + i * ROWS; row < M && block_col + tx < N)
            C[row * ldc + block_col + tx] = block_col + tx >= K || H[row * ldh + block_col + tx] > 0.0f ? acc[i] : 0.0f;
}
