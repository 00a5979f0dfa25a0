// pipeline.cu -- y[i] = the sum of x[step * 128 + i] * x[step * 128 + 127 - i] over all steps, with tiles copied ahead
//
// Launch    grid 1, block 128
#include <cuda_pipeline.h>
#define BUFFERS 4
#define AHEAD 4                                  // tiles under way while one is being used

__device__ void copy(float* tile, const float* x, int step, int steps) {
    if (step < steps)
        __pipeline_memcpy_async(&tile[threadIdx.x], &x[step * 128 + threadIdx.x], 4);
    __pipeline_commit();                         // an empty group, too, is one to count
}

extern "C" __global__ void __launch_bounds__(128)
pipeline(int steps, const float* x, float* y) {
    __shared__ float tile[BUFFERS][128];
    float sum = 0.0f;
    for (int step = 0; step < AHEAD; ++step)
        copy(tile[step % BUFFERS], x, step, steps);
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(AHEAD - 1);        // this thread's part of this step's tile has arrived
        __syncthreads();                         // and so has everybody's; all are done with the tile before it
        copy(tile[(step + AHEAD) % BUFFERS], x, step + AHEAD, steps);
        const float* now = tile[step % BUFFERS];
        sum += now[threadIdx.x] * now[127 - threadIdx.x];
    }
    y[threadIdx.x] = sum;
}
