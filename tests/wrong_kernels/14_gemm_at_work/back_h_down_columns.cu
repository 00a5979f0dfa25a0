// back_h_down_columns.cu -- lanes run down a column of H on the way into its tile
//
// Part             back
// Must fail for    gate: global sectors loaded per multiply-add
#define TILE 32
#define ROWS 8
extern "C" __global__ void
back(int M, int N, int K, const float* A, int lda, const float* H, int ldh, const float* B, int ldb, float* C, int ldc) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE + 1], Hs[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, block_col = blockIdx.x * TILE;
    float acc[TILE / ROWS] = {};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int k = k0 + tx;
        for (int i = ty; i < TILE; i += ROWS) {
            const int row = block_row + i, col = block_col + i;
            const float a = row < M && k < K ? A[row * lda + k] : 0.0f;
            As[i][tx] = a;
            Hs[tx][i] = block_row + tx < M && k0 + i < K ? H[(block_row + tx) * ldh + k0 + i] : 0.0f;
            Bs[tx][i] = col < N && k < K ? B[col * ldb + k] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE; ++j)
            for (int i = 0; i < TILE / ROWS; ++i)
                acc[i] += (Hs[ty + i * ROWS][j] > 0.0f ? As[ty + i * ROWS][j] : 0.0f) * Bs[j][tx];
        __syncthreads();
    }
    for (int i = 0; i < TILE / ROWS; ++i)
        if (const int row = block_row + ty + i * ROWS; row < M && block_col + tx < N)
            C[row * ldc + block_col + tx] = acc[i];
}
