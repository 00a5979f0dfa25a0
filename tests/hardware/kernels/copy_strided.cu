// copy_strided.cu -- a copy whose lanes lie apart
//
// Computes  y[s][i * (s + 1)] = x[i * (s + 1)] for the stride s + 1 of each row of blocks
// Idea      the further apart the lanes, the more sectors a request needs
// Launch    grid (n / 64, strides), block 64
extern "C" __global__ void copy_strided(int n, int pitch, const float* x, float* y) {
    const int stride = blockIdx.y + 1;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * stride < n)
        y[blockIdx.y * pitch + i * stride] = x[i * stride];
}
