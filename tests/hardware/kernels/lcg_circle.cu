// lcg_circle.cu -- points in a quarter circle, by a linear congruential generator
//
// Computes  hits = how many of threads * 20 random points have x^2 + y^2 < 1
// Idea      each thread jumps to its own place in the sequence; one atomic per block
// Launch    grid 3, block 96
extern "C" __global__ void lcg_circle(unsigned seed, int* hits, unsigned* last) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();                           // count is 0
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = seed + i * 2654435761u;
    int mine = 0;
    for (int k = 0; k < 20; ++k) {
        state = state * 1664525u + 1013904223u;
        const unsigned x = state >> 17;
        state = state * 1664525u + 1013904223u;
        const unsigned y = state >> 17;
        if (x * x + y * y < 32768u * 32768u) ++mine;
    }
    last[i] = state;
    atomicAdd(&count, mine);
    __syncthreads();                           // all threads have counted
    if (threadIdx.x == 0) atomicAdd(hits, count);
}
