// last_warp.cu -- y[block] = the sum of the block's 128 elements
//
// Launch    grid blocks, block 128
extern "C" __global__ void __launch_bounds__(128)
last_warp(const float* x, float* y) {
    __shared__ volatile float part[128];
    const int thread = threadIdx.x;
    part[thread] = x[blockIdx.x * 128 + thread];
    __syncthreads();                             // all elements are there
    if (thread < 64)
        part[thread] = part[thread] + part[thread + 64];
    __syncthreads();                             // 64 sums are left
    if (thread >= 32)
        return;                                  // the rest is the work of one warp
    for (int d = 32; d > 0; d /= 2) {
        const float other = part[thread + d];
        part[thread] = part[thread] + other;
    }
    if (thread == 0)
        y[blockIdx.x] = part[0];
}
