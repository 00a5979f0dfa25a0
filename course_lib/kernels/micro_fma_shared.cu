// micro_fma_shared.cu -- a chain of multiply-adds with one operand in shared memory
//
// Computes  out[t] = a after two passes of a = a * b[i] + c, i = 0 … STEPS - 1, from a = in[t]; begin, end: the clock of each warp
// Idea      GT200 had MAD with a shared operand; today LDS brings it and FFMA follows: two instructions a step
// Launch    grid 1, block up to 1024 threads
// Shared    4 * STEPS bytes per block
// Edges     STEPS from 1 to 12288
// Lesson    notebooks/12_measuring.ipynb      Next  micro_shared.cu
#ifndef STEPS         // the launcher passes it with -D, or not
#define STEPS 256      // multiply-adds between the two readings of the clock, written out
#endif
static_assert(STEPS >= 1 && 4 * STEPS <= 48 * 1024, "b lies in the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(1024)
micro_fma_shared(const float* in, const float* factors, float c, long long* begin, long long* end, float* out) {
    __shared__ volatile float b[STEPS];        // volatile: a load of 32 bits for each step, never four at once
    const int t = threadIdx.x;
    for (int i = t; i < STEPS; i += blockDim.x) b[i] = factors[i];
    float a = in[t];
    long long start, stop;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured
        __syncthreads();                       // b is complete, and all warps begin together
        start = clock64();
        // Machine code: CS2R, STEPS times LDS and FFMA, CS2R. The loads do not wait for the chain; the chain waits for them
        #pragma unroll
        for (int i = 0; i < STEPS; ++i)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b[i]), "f"(c));
        stop = clock64();
    }
    out[t] = a;
    if (t % 32 == 0) begin[t / 32] = start, end[t / 32] = stop;
}
