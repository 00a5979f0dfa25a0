// sums_in_order.cu -- all lanes go along their rows together: down a column of one bank
//
// Part             sums
// Must fail for    gate: shared wavefronts per 32 elements: 9.0000
#define TILE 32
#define ROWS 8
extern "C" __global__ void
row_sums(int rows, int cols, const float* in, int ld_in, float* sums) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.x * TILE;   // this block sums TILE rows
    float sum = 0.0f;
    __shared__ float tile[TILE][TILE];
    for (int first_col = 0; first_col < cols; first_col += TILE) {
        for (int i = ty; i < TILE; i += ROWS)
            tile[i][tx] = first_row + i < rows && first_col + tx < cols ? in[(first_row + i) * ld_in + first_col + tx] : 0.0f;
        __syncthreads();                       // the tile is complete
        if (ty == 0)                           // the first warp: lane tx goes along row tx, and begins in column tx
            for (int k = 0; k < TILE; ++k)
                sum += tile[tx][k];
        __syncthreads();                       // it has been read
    }
    if (ty == 0 && first_row + tx < rows) sums[first_row + tx] = sum;
}
