// rest_first.cu -- another right solution: begins with what K has beyond whole tiles, then goes on without a test
//
// Part             peeled
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
    const float* a = &A[(row < M ? row : M - 1) * lda];     // a row that exists: its sums are not stored
    const int there = col < N ? col : N - 1;               // and a column
    const int rest = K % BK;
    if (rest > 0) {
        As[t / BK][on] = on < rest ? a[on] : 0.0f;
        __syncthreads();
        for (int k = 0; k < rest; ++k)
            for (int i = 0; i < BM; ++i)
                acc[i] += As[i][k] * B[k * ldb + there];
        __syncthreads();
    }
    for (int k0 = rest; k0 < K; k0 += BK) {
        As[t / BK][on] = a[k0 + on];
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < BM; ++i)
                acc[i] += As[i][k] * B[(k0 + k) * ldb + there];
        __syncthreads();
    }
    for (int i = 0; i < BM; ++i)
        if (row0 + i < M && col < N) {
            float* c = &C[(row0 + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
