// at_left_of_k.cu -- asks how much is left along K, where four neighbours lie along M
//
// Part             main-b
// Must fail for    wrong: 
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
#define THREADS (BM / TM * (BN / TN))

// four floats of a row from p on, of which `left` are inside the matrix; the others are 0
__device__ __forceinline__ float4 load4(const float* p, int left, bool aligned) {
    if (aligned && left >= 4) return *reinterpret_cast<const float4*>(p);
    return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)      // 512 threads an SM: 128 registers
lean_at(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK][BM];             // As[k][row]: a thread's rows lie side by side
    __shared__ __align__(16) float Bs[BK][BN];
    constexpr int COLS = BN / TN;                          // BN / TN x BM / TM threads
    const int t = threadIdx.y * COLS + threadIdx.x;
    const int tx = (t & 1) + (t >> 2) % (COLS / 2) * 2;    // t and t ^ 1 have the same rows, t and t ^ 2 the same columns
    const int ty = (t >> 1 & 1) + (t >> 2) / (COLS / 2) * 2;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;   // first element of the tile of C
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int v = t; v < BK * BM / 4; v += THREADS) {
            const int k = v / (BM / 4), i = v % (BM / 4) * 4, row = block_row + i;
            *reinterpret_cast<float4*>(&As[k][i]) = load4(&A[(k0 + k) * lda + row], row < M ? K - k0 - k : 0, lda % 4 == 0);
        }
        for (int v = t; v < BK * BN / 4; v += THREADS) {
            const int k = v / (BN / 4), j = v % (BN / 4) * 4, col = block_col + j;
            *reinterpret_cast<float4*>(&Bs[k][j]) = load4(&B[(k0 + k) * ldb + col], k0 + k < K ? N - col : 0, ldb % 4 == 0);
        }
        __syncthreads();                                   // nobody reads before both tiles are complete
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i)                   // rows in fours, the fours half a tile apart: LDS.128
                a[i] = As[k][i / 4 * (BM / 2) + ty * 4 + i % 4];
            for (int j = 0; j < TN; ++j)
                b[j] = Bs[k][j / 4 * (BN / 2) + tx * 4 + j % 4];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();                                   // nobody overwrites before all have read
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
