// transpose_plain.cu -- out[c][r] = in[r][c], straight from row to column
//
// Computes  out[cols,rows] = in[rows,cols] transposed              row-major float32
// Idea      reading runs along rows; writing then runs down columns, a row apart from lane to lane
// Launch    grid (ceil(cols/TILE), ceil(rows/TILE)), block (TILE, ROWS): TILE/ROWS elements per thread
// Shared    none
// Strides   ld_in, ld_out: elements from one row to the next
// Edges     any rows, cols below 2^31 elements a matrix
// Lesson    notebooks/06_bank_conflicts.ipynb      Next  transpose.cu
#ifndef TILE          // the launcher passes both with -D, or none
#define TILE 32
#define ROWS 8
#endif
static_assert(TILE % ROWS == 0 && TILE * ROWS <= 1024, "ROWS rows of threads move a tile in whole steps");

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_plain(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    const int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        const int row = blockIdx.y * TILE + i;
        if (row < rows && col < cols) out[col * ld_out + row] = in[row * ld_in + col];
    }
}
