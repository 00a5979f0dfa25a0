// gemm_block.cu -- square tiles in shared memory, in float or double
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major, REAL = float or double
// Idea      Wang and Jin's second step, with blocks of 16 x 16 and of 32 x 32 threads
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    2 * TILE*TILE * sizeof(REAL) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/08_register_blocking.ipynb      Next  gemm_ilp.cu
#ifndef REAL
#define REAL double
#endif
#ifndef TILE
#define TILE 32
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
gemm_block(int M, int N, int K, REAL alpha, const REAL* A, int lda,
           const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {
    __shared__ REAL As[TILE][TILE];
    __shared__ REAL Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    REAL acc = 0;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0;
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (row < M && col < N) {
        REAL* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0 ? 0 : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
