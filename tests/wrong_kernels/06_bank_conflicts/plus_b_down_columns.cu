// plus_b_down_columns.cu -- B is added while the tile is loaded, and so read down columns
//
// Part             turn-b
// Must fail for    gate: global sectors loaded per 32 elements: 36.0000
#define TILE 32
#define ROWS 8
extern "C" __global__ void
turned_plus(int rows, int cols, float alpha, const float* A, int lda, const float* B, int ldb, float* C, int ldc) {
    __shared__ float tile[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (first_row + i < rows && first_col + tx < cols)
            tile[i][tx] = alpha * A[(first_row + i) * lda + first_col + tx] + B[(first_col + tx) * ldb + first_row + i];
    __syncthreads();
    for (int i = ty; i < TILE; i += ROWS)
        if (first_col + i < cols && first_row + tx < rows)
            C[(first_col + i) * ldc + first_row + tx] = tile[tx][i];
}
