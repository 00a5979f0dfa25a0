// micro_outer.cu -- outer products of registers, row by row or in serpentine order
//
// Computes  out[t] = sum over i, j of (i TN + j + 1) c[i][j], c[i][j] = a[i] b[j] added 2 STEPS times, a[i] = in[i][t], b[j] = in[TM + j][t];
//           begin, end: the clock of each warp
// Idea      the order of the multiply-adds decides which operands `.reuse` keeps, and so how many collide in a register bank
// Launch    any grid, block of THREADS threads
// Shared    none
// Edges     STEPS, TM, TN >= 1; a row of in holds a number of every thread of the grid
// Lesson    notebooks/15_closing_in.ipynb      Next  none
#ifndef STEPS         // the launcher passes all with -D, or none
#define STEPS 256      // outer products between the two readings of the clock
#define TM 8           // numbers of a: rows of the sums that a thread holds in registers
#define TN 8           // numbers of b: their columns
#define SERPENTINE 0   // 1: every other row runs backwards, so that the number of b at its end is read once for two multiply-adds
#define THREADS 256    // of a block
#endif
static_assert(STEPS >= 1 && TM >= 1 && TN >= 1 && (SERPENTINE == 0 || SERPENTINE == 1), "there is a product and an order");

extern "C" __global__ void __launch_bounds__(THREADS)
micro_outer(const float* in, long long* begin, long long* end, float* out) {
    const int warps = (THREADS + 31) / 32;
    const size_t all = (size_t)gridDim.x * THREADS, t = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float a[TM], b[TN], c[TM][TN] = {}, sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < TM; ++i) a[i] = in[i * all + t];
    #pragma unroll
    for (int j = 0; j < TN; ++j) b[j] = in[(TM + j) * all + t];
    long long start, stop;
    #pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {     // the first fetches the instructions, the second is measured
        __syncthreads();                       // all warps begin together
        start = clock64();
        #pragma unroll 1
        for (int step = 0; step < STEPS; ++step)
            // volatile: in this order, none dropped. Machine code: TM * TN times FFMA, then the loop's own instructions
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int n = 0; n < TN; ++n) {
                    const int j = SERPENTINE && i % 2 ? TN - 1 - n : n;
                    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(c[i][j]) : "f"(a[i]), "f"(b[j]));
                }
        stop = clock64();
    }
    #pragma unroll
    for (int i = 0; i < TM; ++i)               // a weight for each: no two sums can be exchanged
        #pragma unroll
        for (int j = 0; j < TN; ++j) sum = fmaf(i * TN + j + 1, c[i][j], sum);
    out[t] = sum;
    if (threadIdx.x % 32 == 0) {
        const size_t warp = (size_t)blockIdx.x * warps + threadIdx.x / 32;
        begin[warp] = start, end[warp] = stop;
    }
}
