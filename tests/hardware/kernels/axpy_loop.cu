// axpy_loop.cu -- y = a x + y by a loop over the grid
//
// Computes  y[i] += a * x[i]
// Idea      a fixed grid serves any n
// Launch    grid 3, block 64
extern "C" __global__ void axpy_loop(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}
