// plus_not_padded.cu -- right and coalesced, but a column of the tile lies in one bank
//
// Part             turn-b
// Must fail for    gate: shared wavefronts per 32 elements: 33.0000
#define TILE 32
#define ROWS 8
extern "C" __global__ void
turned_plus(int rows, int cols, float alpha, const float* A, int lda, const float* B, int ldb, float* C, int ldc) {
    __shared__ float tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (first_row + i < rows && first_col + tx < cols)
            tile[i][tx] = A[(first_row + i) * lda + first_col + tx];
    __syncthreads();
    for (int i = ty; i < TILE; i += ROWS)
        if (first_col + i < cols && first_row + tx < rows)
            C[(first_col + i) * ldc + first_row + tx] = alpha * tile[tx][i] + B[(first_col + i) * ldb + first_row + tx];
}
