// fast_path_for_whole_blocks.cu -- right, but a block that is cut tests all: two loops on the same lines
//
// Part             main
// Must fail for    gate: divergent branches per multiply-add: 0.0862
#define BM 8        // rows of C of a block: the sums of a thread
#define BN 64       // columns of C of a block: one for each thread
#define BK 8        // BM * BK = BN: each thread loads one element of A's tile
template <bool tested>
__device__ __forceinline__ void product(int M, int N, int K, const float* A, int lda, const float* B, int ldb,
                                        float (&As)[BM][BK], float (&acc)[BM]) {
    const int t = threadIdx.x, row0 = blockIdx.y * BM;     // the block's first row of C
    const int row = row0 + t / BK, on = t % BK;            // of A: what this thread loads of each tile
    const int col = blockIdx.x * BN + t;                   // of B and C
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[t / BK][on] = !tested || (row < M && k0 + on < K) ? A[row * lda + k0 + on] : 0.0f;
        __syncthreads();                                   // the tile is complete
        for (int k = 0; k < BK; ++k) {
            const float x = !tested || (k0 + k < K && col < N) ? B[(k0 + k) * ldb + col] : 0.0f;
            for (int i = 0; i < BM; ++i)
                acc[i] += As[i][k] * x;
        }
        __syncthreads();                                   // everyone has read it
    }
}

extern "C" __global__ void
clamped(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    const int t = threadIdx.x, row0 = blockIdx.y * BM;     // the block's first row of C
    const int row = row0 + t / BK, on = t % BK;            // of A: what this thread loads of each tile
    const int col = blockIdx.x * BN + t;                   // of B and C
    float acc[BM] = {};
    if (row0 + BM <= M && blockIdx.x * BN + BN <= N && K % BK == 0)
        product<false>(M, N, K, A, lda, B, ldb, As, acc);
    else
        product<true>(M, N, K, A, lda, B, ldb, As, acc);
    for (int i = 0; i < BM; ++i)
        if (row0 + i < M && col < N) {
            float* c = &C[(row0 + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
