// sgemm_padded.cu -- each row of the turned tile is PAD words longer, so that a column crosses all banks
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      bank = word mod 32: with rows of TILE words the lanes of a warp meet in few banks, with TILE+1 in none
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    4 * (TILE*TILE + TILE*(TILE+PAD)) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/06_bank_conflicts.ipynb      Next  sgemm_unrolled.cu
#ifndef TILE          // the launcher passes both with -D, or none
#define TILE 16
#define PAD 1
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");
static_assert(4 * TILE * (2 * TILE + PAD) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_padded(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + PAD];       // Bs[col][k]
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[tx][ty] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[tx][k];
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
