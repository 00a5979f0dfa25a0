// transpose_padded.cu -- transpose through a 32 x 33 tile
//
// Computes  y[j][i] = x[i][j]
// Idea      one column of padding spreads a column over all banks
// Launch    grid (ceil(cols/32), ceil(rows/32)), block (32, 8)
extern "C" __global__ void transpose_padded(int rows, int cols, const float* x, float* y) {
    __shared__ float tile[32][33];
    const int tx = threadIdx.x, col = blockIdx.x * 32 + tx, row0 = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (row0 + j < rows && col < cols)
            tile[j][tx] = x[(row0 + j) * cols + col];
    __syncthreads();                          // the tile is complete
    for (int j = threadIdx.y; j < 32; j += 8)
        if (blockIdx.x * 32 + j < cols && row0 + tx < rows)
            y[(blockIdx.x * 32 + j) * rows + row0 + tx] = tile[tx][j];
}
