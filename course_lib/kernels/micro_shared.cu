// micro_shared.cu -- the latency of a load from shared memory
//
// Computes  out[t] = the slot after 2 * STEPS hops through a ring, from slot t * spread; begin, end: the clock of each warp
// Idea      each slot holds the address of the next: no load can start before the last has answered
// Launch    grid 1, block up to 1024 threads
// Shared    4 * SLOTS bytes per block
// Edges     spread >= 0: 0 sends all lanes to one word, 1 to 32 banks, 32 to one bank
// Lesson    notebooks/12_measuring.ipynb      Next  micro_global.cu
#ifndef STEPS         // the launcher passes all with -D, or none
#define STEPS 256      // hops between the two readings of the clock, written out
#define SLOTS 4096     // of the ring, 4 bytes each
#endif
static_assert(STEPS >= 1 && SLOTS >= 1 && 4 * SLOTS <= 48 * 1024, "the ring lies in the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(1024)
micro_shared(int spread, long long* begin, long long* end, int* out) {
    __shared__ unsigned ring[SLOTS];
    const int t = threadIdx.x;
    const unsigned base = (unsigned)__cvta_generic_to_shared(ring);
    for (int i = t; i < SLOTS; i += blockDim.x) ring[i] = base + 4 * ((i + 1) % SLOTS);
    unsigned p = base + 4 * (t * spread % SLOTS);
    long long start, stop;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured
        __syncthreads();                       // the ring is complete, and all warps begin together
        start = clock64();
        // Machine code: CS2R, STEPS times LDS with the last one's result as address, CS2R
        #pragma unroll
        for (int i = 0; i < STEPS; ++i)
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p) :: "memory");
        asm volatile("{ .reg .pred q; setp.eq.u32 q, %0, 1; @q trap; }" :: "r"(p) : "memory");    // the last has answered
        stop = clock64();
    }
    out[t] = (p - base) / 4;
    if (t % 32 == 0) begin[t / 32] = start, end[t / 32] = stop;
}
