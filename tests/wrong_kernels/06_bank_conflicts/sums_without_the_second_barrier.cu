// sums_without_the_second_barrier.cu -- the next tile is loaded over one that is still being read
//
// Part             sums
// Must fail for    hazard: no __syncthreads() stands between
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
                sum += tile[tx][(tx + k) % TILE];
    }
    if (ty == 0 && first_row + tx < rows) sums[first_row + tx] = sum;
}
