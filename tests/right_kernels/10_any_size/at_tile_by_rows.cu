// at_tile_by_rows.cu -- another right solution: the tile of A turned while it is filled, pointers that move on
//
// Part             main-b
#define BM 8        // rows of C of a block: the sums of a thread
#define BN 64       // columns of C of a block: one for each thread
#define BK 8        // BM * BK = BN: each thread loads one element of A's tile
extern "C" __global__ void
clamped_at(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK + 1];
    const int t = threadIdx.x, row0 = blockIdx.y * BM;     // the block's first row of C
    const int row = row0 + t % BM, on = t / BM;            // of A: what this thread loads of each tile
    const int col = blockIdx.x * BN + t;                   // of B and C
    float acc[BM] = {};
    const float* a = A + on * lda + min(row, M - 1);
    const float* b = B + min(col, N - 1);
    for (int left = K; left > 0; left -= BK, a += BK * lda, b += BK * ldb) {
        As[t % BM][on] = on < left ? *a : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float x = b[min(k, left - 1) * ldb];
            for (int i = 0; i < BM; ++i)
                acc[i] = fmaf(As[i][k], x, acc[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < BM; ++i)
        if (row0 + i < M && col < N) {
            float* c = &C[(row0 + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
