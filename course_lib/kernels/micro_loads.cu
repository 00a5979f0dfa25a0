// micro_loads.cu -- independent loads from global memory against active threads
//
// Computes  out[b][t] = sum of the LOADS words that thread t of block b moved to shared memory; begin, end: the clock of each warp
// Idea      Chien's b[inx][iny+i] = B[i*ldb]: all loads are under way before the first one's answer is stored
// Launch    grid any, block up to 1024 threads
// Shared    4 * LOADS * THREADS bytes per block
// Edges     2 * gridDim.x * LOADS rows of THREADS words, rounded up to whole lines of 128 bytes, in `in`
// Lesson    notebooks/12_measuring.ipynb      Next  none
#ifndef LOADS         // the launcher passes all with -D, or none
#define LOADS 8        // of each thread, 4 bytes each
#define THREADS 256    // of a block
#endif
static_assert(LOADS >= 1 && THREADS <= 1024 && 4 * LOADS * THREADS <= 48 * 1024, "the words of a block lie in static shared memory");

extern "C" __global__ void __launch_bounds__(THREADS)
micro_loads(const float* __restrict__ in, long long* begin, long long* end, float* out) {
    __shared__ volatile float kept[LOADS][THREADS];
    const int t = threadIdx.x, warps = (THREADS + 31) / 32, row = 32 * warps;
    long long start, stop;
    float sum = 0.0f;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured, on other words
        const float* mine = in + ((long long)(pass * gridDim.x + blockIdx.x) * LOADS) * row + t;
        float word[LOADS];
        __syncthreads();                       // all warps begin together
        start = clock64();
        // Machine code: CS2R, LOADS times LDG, LOADS times STS, CS2R
        #pragma unroll
        for (int i = 0; i < LOADS; ++i)
            asm volatile("ld.global.f32 %0, [%1];" : "=f"(word[i]) : "l"(mine + i * row) : "memory");
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) kept[i][t] = word[i];
        stop = clock64();
    }
    for (int i = 0; i < LOADS; ++i) sum += kept[i][t];
    out[blockIdx.x * THREADS + t] = sum;
    if (t % 32 == 0) begin[blockIdx.x * warps + t / 32] = start, end[blockIdx.x * warps + t / 32] = stop;
}
