// matvec_warp.cu -- matrix times vector, a warp a row
//
// Computes  y = A x
// Idea      lanes read neighbours, shuffles add up
// Launch    grid ceil(rows/4), block (32, 4)
extern "C" __global__ void matvec_warp(int rows, int cols, const float* A, const float* x, float* y) {
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= rows) return;
    float sum = 0;
    for (int k = threadIdx.x; k < cols; k += 32) sum += A[row * cols + k] * x[k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}
