// gemm_ilp.cu -- a quarter of the threads, four outputs each: instructions that do not wait for one another
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major, REAL = float or double
// Idea      instruction-level parallelism: OUT independent sums in a thread hide latency that more threads would hide
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE/OUT): OUT elements of a column of C per thread
// Shared    2 * TILE*TILE * sizeof(REAL) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/08_register_blocking.ipynb      Next  gemm_outputs.cu
#ifndef REAL
#define REAL double
#endif
#ifndef TILE          // the launcher passes both with -D, or none
#define TILE 32
#define OUT 4
#endif
#define STEP (TILE / OUT)   // rows of threads, and rows between two outputs of a thread
static_assert(TILE % OUT == 0, "every thread computes as many elements");
static_assert(TILE * STEP <= 1024, "a block has at most 1024 threads");
static_assert(2 * TILE * TILE * sizeof(REAL) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(TILE * STEP)
gemm_ilp(int M, int N, int K, REAL alpha, const REAL* A, int lda,
         const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {
    __shared__ REAL As[TILE][TILE];
    __shared__ REAL Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, col = blockIdx.x * TILE + tx;
    REAL acc[OUT] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = ty; i < TILE; i += STEP) {
            As[i][tx] = block_row + i < M && k0 + tx < K ? A[(block_row + i) * lda + k0 + tx] : 0;
            Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * ldb + col] : 0;
        }
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k) {
            const REAL b = Bs[k][tx];          // one load for OUT products
            for (int i = 0; i < OUT; ++i)
                acc[i] += As[ty + i * STEP][k] * b;
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    for (int i = 0; i < OUT; ++i) {
        const int row = block_row + ty + i * STEP;
        if (row < M && col < N) {
            REAL* c = &C[row * ldc + col];
            *c = alpha * acc[i] + (beta == 0 ? 0 : beta * *c);   // beta 0: C is not read
        }
    }
}
