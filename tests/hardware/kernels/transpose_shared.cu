// transpose_shared.cu -- transpose through a 32 x 32 tile
//
// Computes  y[j][i] = x[i][j]
// Idea      a column of the tile lies in one bank
// Launch    grid (ceil(cols/32), ceil(rows/32)), block (32, 8)
extern "C" __global__ void transpose_shared(int rows, int cols, const float* x, float* y) {
    __shared__ float tile[32][32];
    const int tx = threadIdx.x, col = blockIdx.x * 32 + tx, row0 = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (row0 + j < rows && col < cols)
            tile[j][tx] = x[(row0 + j) * cols + col];
    __syncthreads();                          // the tile is complete
    for (int j = threadIdx.y; j < 32; j += 8)
        if (blockIdx.x * 32 + j < cols && row0 + tx < rows)
            y[(blockIdx.x * 32 + j) * rows + row0 + tx] = tile[tx][j];
}
