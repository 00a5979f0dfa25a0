// at_tests_at_the_loads.cu -- right, but asks for row and column at each load
//
// Part             main-b
// Must fail for    gate: divergent branches per multiply-add: 0.0949
#define BM 8        // rows of C of a block: the sums of a thread
#define BN 64       // columns of C of a block: one for each thread
#define BK 8        // BM * BK = BN: each thread loads one element of A's tile
extern "C" __global__ void
clamped_at(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BK][BM];                         // As[k][row]
    const int t = threadIdx.x, row0 = blockIdx.y * BM;     // the block's first row of C
    const int row = row0 + t % BM, on = t / BM;            // of A: what this thread loads of each tile
    const int col = blockIdx.x * BN + t;                   // of B and C
    float acc[BM] = {};
    const float* a = &A[on * lda + row];
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[on][t % BM] = row < M && k0 + on < K ? a[k0 * lda] : 0.0f;       // beyond K there are zeros, for these are summed
        __syncthreads();                                   // the tile is complete
        for (int k = 0; k < BK; ++k) {
            const float x = k0 + k < K && col < N ? B[(k0 + k) * ldb + col] : 0.0f;
            for (int i = 0; i < BM; ++i)
                acc[i] += As[k][i] * x;
        }
        __syncthreads();                                   // everyone has read it
    }
    for (int i = 0; i < BM; ++i)
        if (row0 + i < M && col < N) {
            float* c = &C[(row0 + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
