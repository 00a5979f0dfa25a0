// transpose_naive.cu -- transpose without shared memory
//
// Computes  y[j][i] = x[i][j]
// Idea      the loads are neat, the stores touch a sector per lane
// Launch    grid (ceil(cols/16), ceil(rows/16)), block (16, 16)
extern "C" __global__ void transpose_naive(int rows, int cols, const float* x, float* y) {
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && col < cols)
        y[col * rows + row] = x[row * cols + col];
}
