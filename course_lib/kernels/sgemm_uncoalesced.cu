// sgemm_uncoalesced.cu -- a tile of B is read down its columns: neighbouring lanes are a whole row apart
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      what a warp asks of memory depends on which index threadIdx.x is; here it is the wrong one
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    4 * (TILE*TILE + TILE*(TILE+1)) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/05_coalescing.ipynb      Next  sgemm_coalesced.cu
#ifndef TILE          // the launcher passes it with -D, or none
#define TILE 16
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_uncoalesced(int M, int N, int K, float alpha, const float* A, int lda,
                  const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + 1];         // Bs[k][col]; one float more per row: lesson 06
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        // Lanes run along k, down a column of B.
        const int b_col = blockIdx.x * TILE + ty;
        Bs[tx][ty] = k0 + tx < K && b_col < N ? B[(k0 + tx) * ldb + b_col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
