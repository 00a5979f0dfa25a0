// stencil_1d.cu -- a moving average through shared memory
//
// Computes  y[i] = sum of x[i - 3 .. i + 3], zeros outside
// Idea      a tile with a halo; each element is loaded once
// Launch    grid ceil(n/128), block 128
extern "C" __global__ void stencil_1d(int n, const float* x, float* y) {
    __shared__ float tile[128 + 6];
    const int first = blockIdx.x * 128, t = threadIdx.x;
    for (int k = t; k < 134; k += 128) {
        const int i = first + k - 3;
        tile[k] = i >= 0 && i < n ? x[i] : 0.0f;
    }
    __syncthreads();                           // tile and halo are complete
    if (first + t < n) {
        float sum = 0;
        for (int k = 0; k < 7; ++k) sum += tile[t + k];
        y[first + t] = sum;
    }
}
