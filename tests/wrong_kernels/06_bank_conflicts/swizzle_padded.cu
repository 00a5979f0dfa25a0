// swizzle_padded.cu -- free of conflicts by padding, where the tile must have no room to spare
//
// Part             swizzle
// Must fail for    gate: shared bytes per element of a tile: 4.1250
#define TILE 32
#define ROWS 8
extern "C" __global__ void
swizzled(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    __shared__ float tile[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (first_row + i < rows && first_col + tx < cols)
            tile[i][tx] = in[(first_row + i) * ld_in + first_col + tx];
    __syncthreads();
    for (int i = ty; i < TILE; i += ROWS)
        if (first_col + i < cols && first_row + tx < rows)
            out[(first_col + i) * ld_out + first_row + tx] = tile[tx][i];
}
