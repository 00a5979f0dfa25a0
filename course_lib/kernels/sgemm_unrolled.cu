// sgemm_unrolled.cu -- the loop over the tile written out UNROLL steps at a time
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      sgemm_tiled.cu with square tiles: no counter, no branch, and addresses that are known when the kernel is compiled
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    8 * TILE*TILE bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/07_unrolling.ipynb      Next  sgemm_1d_tile.cu
#ifndef TILE          // the launcher passes both with -D, or none
#define TILE 16
#define UNROLL 16
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");
static_assert(UNROLL >= 1 && UNROLL <= TILE, "there are TILE steps to write out");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_unrolled(int M, int N, int K, float alpha, const float* A, int lda,
               const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];             // Bs[k][col]
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

#pragma unroll UNROLL
        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
