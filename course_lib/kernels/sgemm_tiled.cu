// sgemm_tiled.cu -- the block brings a tile of A and a tile of B on chip, then everyone reads those
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      once on chip, an element of A serves BN outputs and an element of B serves BM
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (BN, BM): one thread per element of C
// Shared    4 * (BM*BK + BK*BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/04_tiling.ipynb      Next  sgemm_coalesced.cu
#ifndef BM            // the launcher passes all three with -D, or none
#define BM 32
#define BN 32
#define BK 32
#endif
static_assert(BM * BN <= 1024, "a block has one thread per element of its BM x BN tile, and at most 1024 threads");
static_assert(4 * (BM * BK + BK * BN) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(BM * BN)
sgemm_tiled(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;      // of C
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += BK) {       // slide both tiles along K
        for (int j = 0; j < BK; j += BN)       // BN threads fill a row of As, in one step when BK <= BN
            if (const int k = j + tx; k < BK)
                As[ty][k] = row < M && k0 + k < K ? A[row * lda + k0 + k] : 0.0f;
        for (int i = 0; i < BK; i += BM)       // BM threads fill a column of Bs, in one step when BK <= BM
            if (const int k = i + ty; k < BK)
                Bs[k][tx] = k0 + k < K && col < N ? B[(k0 + k) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }

    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
    }
}
