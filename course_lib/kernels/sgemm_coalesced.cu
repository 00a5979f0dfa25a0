// sgemm_coalesced.cu -- a tile of B is read along its rows, and kept turned over
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      neighbouring lanes read neighbouring words of B; but now they read shared memory a row apart
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of C
// Shared    8 * TILE*TILE bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/05_coalescing.ipynb      Next  sgemm_padded.cu
#ifndef TILE          // the launcher passes it with -D, or none
#define TILE 16
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_coalesced(int M, int N, int K, float alpha, const float* A, int lda,
                const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];             // Bs[col][k]
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of C
    const int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        // Lanes run along a row of B.
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
