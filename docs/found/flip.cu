// flip.cu -- y[i] = the sum of x[step * 4096 + 4095 - i] over all steps, with two buffers of 16 KiB in turn
//
// Launch    grid 1, block 256, 32 KiB of shared memory
extern "C" __global__ void __launch_bounds__(256)
flip(int steps, const float* x, float* y) {
    __shared__ __align__(16384) float tile[2][4096];
    unsigned now = __cvta_generic_to_shared(tile[0]);
    float sum[16] = {};
    for (int step = 0; step < steps; ++step) {
        for (int k = 0; k < 16; ++k) {
            const int i = k * 256 + threadIdx.x;
            const unsigned at = (now + 4 * i) ^ (step % 2 * 16384);
            asm volatile("st.shared.f32 [%0], %1;" :: "r"(at), "f"(x[step * 4096 + i]) : "memory");
        }
        __syncthreads();                         // the tile is complete, and nobody reads the other one any more
        for (int k = 0; k < 16; ++k) {
            const int i = 4095 - k * 256 - threadIdx.x;
            const unsigned at = (now + 4 * i) ^ (step % 2 * 16384);
            float element;
            asm volatile("ld.shared.f32 %0, [%1];" : "=f"(element) : "r"(at) : "memory");
            sum[k] += element;
        }
    }
    for (int k = 0; k < 16; ++k)
        y[k * 256 + threadIdx.x] = sum[k];
}
