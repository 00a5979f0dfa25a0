// async_zero_fill.cu -- cp.async of 4, 8 and 16 bytes with zeros behind the end
//
// Computes  y = x reversed within each block of 128 elements, zeros where x ends
// Idea      the copy fills what the source has not
// Launch    grid 3, block 32
#include <cuda_pipeline.h>

extern "C" __global__ void async_zero_fill(int n, const float* x, float* y) {
    __shared__ __align__(16) float tile[128];
    const int first = blockIdx.x * 128 + threadIdx.x * 4, t = threadIdx.x;
    const int have = max(0, min(4, n - first)), size = 4 * have;
    const float* from = have ? x + first : x;
    if (t % 3 == 0) {
        __pipeline_memcpy_async(&tile[4 * t], from, 16, 16 - size);
    } else if (t % 3 == 1) {
        __pipeline_memcpy_async(&tile[4 * t], from, 8, 8 - min(size, 8));
        __pipeline_memcpy_async(&tile[4 * t + 2], have > 2 ? from + 2 : x, 8, 8 - max(0, size - 8));
    } else {
        for (int k = 0; k < 4; ++k)
            __pipeline_memcpy_async(&tile[4 * t + k], have > k ? from + k : x, 4, have > k ? 0 : 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();                              // the other lanes' copies have arrived
    for (int k = t; k < 128; k += 32) y[blockIdx.x * 128 + k] = tile[127 - k];
}
