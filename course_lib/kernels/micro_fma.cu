// micro_fma.cu -- a chain of multiply-adds with operands in registers
//
// Computes  out[t] = a after 2 * STEPS times a = a * b + c, from a = in[t]; begin, end: the clock of each warp
// Idea      each step waits for the last: one warp shows the latency, many warps the throughput
// Launch    grid 1, block up to 1024 threads
// Shared    none
// Edges     STEPS >= 1; REGISTERS 3, or 2: then c is the number 1, which stands in the instruction
// Lesson    notebooks/12_measuring.ipynb      Next  micro_chains.cu
#ifndef STEPS         // the launcher passes all with -D, or none
#define STEPS 256      // multiply-adds between the two readings of the clock, written out
#define REGISTERS 3    // that a multiply-add reads
#endif
static_assert(STEPS >= 1 && (REGISTERS == 2 || REGISTERS == 3), "the chain has a step of two or three registers");

extern "C" __global__ void __launch_bounds__(1024)
micro_fma(const float* in, float b, float c, long long* begin, long long* end, float* out) {
    const int t = threadIdx.x;
    float a = in[t];
    long long start, stop;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured
        __syncthreads();                       // all warps begin together
        start = clock64();
        // volatile: one after another between the clocks, none dropped. Machine code: CS2R, STEPS times FFMA, CS2R
        #pragma unroll
        for (int i = 0; i < STEPS; ++i)
            if (REGISTERS == 3) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b), "f"(c));
            else asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800000;" : "+f"(a) : "f"(b));
        stop = clock64();
    }
    out[t] = a;
    if (t % 32 == 0) begin[t / 32] = start, end[t / 32] = stop;
}
