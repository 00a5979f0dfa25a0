// micro_global.cu -- the latency of a load from global memory: L1, L2 or DRAM by the size of the ring
//
// Computes  out[t] = the slot after WARM + STEPS hops through a ring, from slot (its warp); begin, end: the clock of each warp
// Idea      each slot holds the address of the slot `jump` further: no load can start before the last has answered
// Launch    grid 1, block up to 1024 threads
// Shared    none
// Edges     slots >= 1, slots * stride words of 8 bytes in ring; stride in words
// Lesson    notebooks/12_measuring.ipynb      Next  micro_loads.cu
#ifndef STEPS         // the launcher passes all with -D, or none
#define STEPS 256      // hops between the two readings of the clock, written out
#define WARM 8192      // hops before: a small ring then lies in L1; in a large one the measured slots were not read yet
#endif
static_assert(STEPS >= 1 && WARM >= 0, "the chain has a step");

extern "C" __global__ void __launch_bounds__(1024)
micro_global(unsigned long long* ring, int slots, int stride, int jump, long long* begin, long long* end, int* out) {
    const int t = threadIdx.x;
    for (long long i = t; i < slots; i += blockDim.x)      // the slots of a ring larger than L2 have left it again at the end
        ring[i * stride] = __cvta_generic_to_global(ring + (i + jump) % slots * stride);
    __syncthreads();                           // the ring is complete
    unsigned long long p = __cvta_generic_to_global(ring + (long long)(t / 32 % slots) * stride);
    #pragma unroll 1
    for (int i = 0; i < WARM; ++i)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p) :: "memory");
    __syncthreads();                           // all warps begin together
    const long long start = clock64();
    // Machine code: CS2R, STEPS times LDG with the last one's result as address, CS2R
    #pragma unroll
    for (int i = 0; i < STEPS; ++i)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p) :: "memory");
    asm volatile("{ .reg .pred q; setp.eq.u64 q, %0, 1; @q trap; }" :: "l"(p) : "memory");        // the last has answered
    const long long stop = clock64();
    out[t] = (int)((p - __cvta_generic_to_global(ring)) / (8 * stride));
    if (t % 32 == 0) begin[t / 32] = start, end[t / 32] = stop;
}
