// scan_warps.cu -- running sums by shuffles, warp sums in shared memory
//
// Computes  y[i] = x[0] + ... + x[i] within each block of 160
// Idea      five steps in registers, one barrier
// Launch    grid n / 160, block 160
extern "C" __global__ void scan_warps(const long long* x, long long* y) {
    __shared__ long long sums[5];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    long long v = x[i];
    for (int d = 1; d < 32; d *= 2) {
        const long long left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) sums[warp] = v;
    __syncthreads();                           // all warps' sums are there
    for (int w = 0; w < warp; ++w) v += sums[w];
    y[i] = v;
}
