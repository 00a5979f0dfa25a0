// named_barriers.cu -- two warps make, two warps use
//
// Computes  y[r][t] = 3 x[r][63 - t] + 1
// Idea      barrier 1 says "full", barrier 2 "empty"; who only signals does not wait
// Launch    grid 2, block 128
__device__ void arrive(int name) { asm volatile("bar.arrive %0, 128;" ::"r"(name) : "memory"); }
__device__ void wait(int name) { asm volatile("bar.sync %0, 128;" ::"r"(name) : "memory"); }

extern "C" __global__ void named_barriers(int rounds, const int* x, int* y) {
    __shared__ int buffer[64];
    const int t = threadIdx.x % 64, first = blockIdx.x * rounds * 64;
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; ++r) {
            if (r) wait(2);
            buffer[t] = 3 * x[first + r * 64 + t];
            arrive(1);
        }
    } else {
        for (int r = 0; r < rounds; ++r) {
            wait(1);
            y[first + r * 64 + t] = buffer[63 - t] + 1;
            if (r + 1 < rounds) arrive(2);
        }
    }
}
