// micro_chains.cu -- chains of multiply-adds that do not wait for each other
//
// Computes  out[t] = sum over j < CHAINS of a after 2 * STEPS times a = a * b + 1, from in[t] + j; begin, end: the clock of each warp
// Idea      while one chain waits for its result, another of the same warp goes on: as good as a further warp
// Launch    grid 1, block up to 1024 threads
// Shared    none
// Edges     STEPS >= 1; CHAINS from 1 to 8; a step is one of each chain
// Lesson    notebooks/12_measuring.ipynb      Next  micro_fma_shared.cu
#ifndef STEPS         // the launcher passes all with -D, or none
#define STEPS 64       // multiply-adds of each chain between the two readings of the clock, written out
#define CHAINS 4       // of each thread
#endif
static_assert(STEPS >= 1 && CHAINS >= 1 && CHAINS <= 8, "there is a step, and each chain has registers of its own");

extern "C" __global__ void __launch_bounds__(1024)
micro_chains(const float* in, float b, long long* begin, long long* end, float* out) {
    const int t = threadIdx.x;
    float a[CHAINS], sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j) a[j] = in[t] + j;
    long long start, stop;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured
        __syncthreads();                       // all warps begin together
        start = clock64();
        // volatile: in this order, none dropped. Machine code: CS2R, STEPS * CHAINS times FFMA, CS2R
        #pragma unroll
        for (int i = 0; i < STEPS; ++i)
            #pragma unroll
            for (int j = 0; j < CHAINS; ++j)
                asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800000;" : "+f"(a[j]) : "f"(b));
        stop = clock64();
    }
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j) sum += a[j];
    out[t] = sum;
    if (t % 32 == 0) begin[t / 32] = start, end[t / 32] = stop;
}
