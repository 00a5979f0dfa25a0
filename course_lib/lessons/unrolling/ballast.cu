// ballast.cu -- sgemm_unrolled with work that nobody needs: more instructions, or more wavefronts of shared memory
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      change one thing: EXTRA additions per multiply-add, or WAYS words of Bs in the same bank, and see what happens to the time
// Launch    grid (ceil(N/16), ceil(M/16)), block (16, 16): one thread per element of C; `one` is 1.0
// Shared    1024 bytes for As, and 1024, 2560, 6400 for Bs with WAYS = 1, 2, 4
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements per matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/07_unrolling.ipynb
#ifndef UNROLL        // the launcher passes all three with -D, or none
#define UNROLL 16
#define EXTRA 0
#define WAYS 1
#endif
#define TILE 16
static_assert(UNROLL >= 1 && UNROLL <= TILE, "there are TILE steps to write out");
static_assert(WAYS == 1 || WAYS == 2 || WAYS == 4, "16 words of a row are dealt out to 16, 8 or 4 banks");

extern "C" __global__ void __launch_bounds__(TILE * TILE, 8)
ballast(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc, float one) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][32 * (WAYS - 1) + TILE / WAYS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    const int at = tx % (TILE / WAYS) + 32 * (tx / (TILE / WAYS));   // WAYS columns share a bank
    float acc = 0.0f, idle = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][at] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

#pragma unroll UNROLL
        for (int k = 0; k < TILE; ++k) {
            acc += As[ty][k] * Bs[k][at];
            for (int e = 0; e < EXTRA; ++e)
                idle += one;                   // float additions may not be joined, so each is an instruction
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (idle < 0.0f) acc = idle;               // never: but the compiler cannot know
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
