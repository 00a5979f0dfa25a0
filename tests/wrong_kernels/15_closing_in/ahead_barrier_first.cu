// ahead_barrier_first.cu -- meets the others before it stores its share of the next tiles
//
// Part             ahead
// Must fail for    hazard: 
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
extern "C" __global__ void
ahead(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[2][BK][BM], Bs[2][BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;          // BN / TN x BM / TM threads
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;   // first element of the tile of C
    float acc[TM][TN] = {};
    constexpr int THREADS = BM / TM * (BN / TN), VA = BM * BK / THREADS, VB = BK * BN / THREADS;
    const int t = ty * (BN / TN) + tx;
    float next_a[VA], next_b[VB];                          // what this thread brings of the next tiles
    const auto fetch = [&](int k0) {                       // from global memory to registers
        for (int n = 0; n < VA; ++n) {
            const int i = (t + n * THREADS) / BK, k = (t + n * THREADS) % BK;
            next_a[n] = block_row + i < M && k0 + k < K ? A[(block_row + i) * lda + k0 + k] : 0.0f;
        }
        for (int n = 0; n < VB; ++n) {
            const int k = (t + n * THREADS) / BN, j = (t + n * THREADS) % BN;
            next_b[n] = k0 + k < K && block_col + j < N ? B[(k0 + k) * ldb + block_col + j] : 0.0f;
        }
    };
    const auto keep = [&](int s) {                         // from registers to buffer s
        for (int n = 0; n < VA; ++n)
            As[s][(t + n * THREADS) % BK][(t + n * THREADS) / BK] = next_a[n];
        for (int n = 0; n < VB; ++n)
            Bs[s][(t + n * THREADS) / BN][(t + n * THREADS) % BN] = next_b[n];
    };
    fetch(0);
    keep(0);
    __syncthreads();                                       // buffer 0 is complete
    for (int k0 = 0, s = 0; k0 < K; k0 += BK, s ^= 1) {
        const bool more = k0 + BK < K;
        if (more) fetch(k0 + BK);                          // under way during the products
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i)                   // rows in fours, the fours half a tile apart: LDS.128
                a[i] = As[s][k][i / 4 * (BM / 2) + ty * 4 + i % 4];
            for (int j = 0; j < TN; ++j)
                b[j] = Bs[s][k][j / 4 * (BN / 2) + tx * 4 + j % 4];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        if (more) {
            __syncthreads();
            keep(s ^ 1);
        }
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + i / 4 * (BM / 2) + ty * 4 + i % 4, col = block_col + j / 4 * (BN / 2) + tx * 4 + j % 4;
            if (row < M && col < N) {
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);
            }
        }
}
