// transpose.cu -- turn a tile around in shared memory, so that reading and writing both run along rows
//
// Computes  out[cols,rows] = in[rows,cols] transposed              row-major float32
// Idea      Wong's 32 x 8 threads and 32 x 33 tile: the odd row length spreads a column over all banks
// Launch    grid (ceil(cols/TILE), ceil(rows/TILE)), block (TILE, ROWS): TILE/ROWS elements per thread
// Shared    4 * TILE * (TILE+PAD) bytes per block
// Strides   ld_in, ld_out: elements from one row to the next
// Edges     any rows, cols below 2^31 elements a matrix
// Lesson    notebooks/06_bank_conflicts.ipynb      Next  transpose_swizzled.cu
#ifndef TILE          // the launcher passes all three with -D, or none
#define TILE 32
#define ROWS 8
#define PAD 1
#endif
static_assert(TILE % ROWS == 0 && TILE * ROWS <= 1024, "ROWS rows of threads move a tile in whole steps");
static_assert(4 * TILE * (TILE + PAD) <= 48 * 1024, "the tile lies in the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    __shared__ float tile[TILE][TILE + PAD];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (first_row + i < rows && first_col + tx < cols)
            tile[i][tx] = in[(first_row + i) * ld_in + first_col + tx];
    __syncthreads();                           // the tile is complete
    for (int i = ty; i < TILE; i += ROWS)      // row i of the turned tile: column i of the one that was read
        if (first_col + i < cols && first_row + tx < rows)
            out[(first_col + i) * ld_out + first_row + tx] = tile[tx][i];
}
