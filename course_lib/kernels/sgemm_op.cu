// sgemm_op.cu -- the product of matrices that may be transposed, and the sum with C, in one kernel
//
// Computes  C[M,N] = alpha * op(A) @ op(B) + beta * C[M,N]         row-major float32; op turns a matrix or leaves it
// Idea      Wong's fused kernel: a transposed operand is turned on its way into shared memory, no matrix is written twice
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    8 * TILE*(TILE+1) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next, of A as it is stored: K x M when TRANSA is 1, and B N x K
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/14_gemm_at_work.ipynb
#ifndef TILE          // the launcher passes all three with -D, or none
#define TILE 16
#define TRANSA 0
#define TRANSB 0
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_op(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[TILE][TILE + 1];       // As[row][k]; padded, for the stores of a turned tile
    __shared__ float Bs[TILE][TILE + 1];       // Bs[k][col]
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, block_col = blockIdx.x * TILE;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
#if TRANSA                                     // either way lanes run along the rows of what is stored
        As[tx][ty] = k0 + ty < K && block_row + tx < M ? A[(k0 + ty) * lda + block_row + tx] : 0.0f;
#else
        As[ty][tx] = block_row + ty < M && k0 + tx < K ? A[(block_row + ty) * lda + k0 + tx] : 0.0f;
#endif
#if TRANSB
        Bs[tx][ty] = block_col + ty < N && k0 + tx < K ? B[(block_col + ty) * ldb + k0 + tx] : 0.0f;
#else
        Bs[ty][tx] = k0 + ty < K && block_col + tx < N ? B[(k0 + ty) * ldb + block_col + tx] : 0.0f;
#endif
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }

    const int row = block_row + ty, col = block_col + tx;
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
