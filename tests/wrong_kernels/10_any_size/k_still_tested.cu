// k_still_tested.cu -- right, but asks for k in each turn
//
// Part             peeled
// Must fail for    gate: 2.7268
#define BM 8        // rows of C of a block: the sums of a thread
#define BN 64       // columns of C of a block: one for each thread
#define BK 8        // BM * BK = BN: each thread loads one element of A's tile
extern "C" __global__ void
peeled(int M, int N, int K, float alpha, const float* A, int lda,
       const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    const int t = threadIdx.x, row0 = blockIdx.y * BM;     // the block's first row of C
    const int row = row0 + t / BK, on = t % BK;            // of A: what this thread loads of each tile
    const int col = blockIdx.x * BN + t;                   // of B and C
    float acc[BM] = {};
    const float* a = &A[(row < M ? row : M - 1) * lda + on];     // a row that exists: its sums are not stored
    const int there = col < N ? col : N - 1;               // and a column
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[t / BK][on] = k0 + on < K ? a[k0] : 0.0f;       // beyond K there are zeros, for these are summed
        __syncthreads();                                   // the tile is complete
        for (int k = 0; k < BK; ++k) {
            const float x = k0 + k < K ? B[(k0 + k) * ldb + there] : 0.0f;
            for (int i = 0; i < BM; ++i)
                acc[i] += As[i][k] * x;
        }
        __syncthreads();                                   // everyone has read it
    }
    for (int i = 0; i < BM; ++i)
        if (row0 + i < M && col < N) {
            float* c = &C[(row0 + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
