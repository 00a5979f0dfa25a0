// stencil.cu -- y = the mean of each element's neighbours above and below; what lies outside the image counts as 0
//
// Launch    grid (ceil(columns / 32), ceil(rows / 4)), block (32, 4)
extern "C" __global__ void
stencil(int rows, int columns, const float* x, float* y) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= columns)
        return;
    const float above = x[(row - 1) * columns + col];
    const float below = row + 1 < rows ? x[(row + 1) * columns + col] : 0.0f;
    y[row * columns + col] = 0.5f * (above + below);
}
