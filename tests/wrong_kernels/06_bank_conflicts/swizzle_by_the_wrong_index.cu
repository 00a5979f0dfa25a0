// swizzle_by_the_wrong_index.cu -- every row is mixed in the same way: the column stays in one bank
//
// Part             swizzle
// Must fail for    gate: shared wavefronts per 32 elements: 33.0000
#define TILE 32
#define ROWS 8
extern "C" __global__ void
swizzled(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    __shared__ float tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (first_row + i < rows && first_col + tx < cols)
            tile[i][tx ^ 5] = in[(first_row + i) * ld_in + first_col + tx];
    __syncthreads();
    for (int i = ty; i < TILE; i += ROWS)
        if (first_col + i < cols && first_row + tx < rows)
            out[(first_col + i) * ld_out + first_row + tx] = tile[tx][i ^ 5];
}
