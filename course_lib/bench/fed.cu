// fed.cu -- lesson 15: the tile of a warp is nearly square, loads are 128 bits wide, products run forth and back
#define BM 128                   // a block computes BM × BN elements of C
#define BN 128
#define BK 8
#define TM 8                     // a thread computes TM × TN of them
#define TN 8
#define THREADS (BM / TM * (BN / TN))

extern "C" __global__ void __launch_bounds__(THREADS, 2)     // two blocks per multiprocessor: at most 128 registers per thread
fed(int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK][BM + 4], Bs[BK][BN];         // A's tile lies transposed, its rows are padded by 4 words
    const int t = 16 * threadIdx.y + threadIdx.x, warp = t / 32, lane = t % 32;
    const int row = warp / 4 * 64 + (lane / 2 % 2 + lane / 4 % 4 * 2) * 4;   // the thread's first row in the tile: rows row to row + 3,
    const int col = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;          // and row + 32 to row + 35; columns col … and col + 16 …
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[TM][TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BM * BK; e += THREADS) {
            const int i = e / BK, k = e % BK;
            As[k][i] = row0 + i < M && k0 + k < K ? A[(row0 + i) * lda + k0 + k] : 0.0f;
        }
        for (int e = t; e < BK * BN; e += THREADS) {
            const int k = e / BN, j = e % BN;
            Bs[k][j] = k0 + k < K && col0 + j < N ? B[(k0 + k) * ldb + col0 + j] : 0.0f;
        }
        __syncthreads();         // both tiles are complete

        for (int k = 0; k < BK; ++k) {
            float4 a4[2], b4[2];
            const float *a = &a4[0].x, *b = &b4[0].x;        // a[0] … a[7] and b[0] … b[7]
            a4[0] = *(float4*)&As[k][row];
            a4[1] = *(float4*)&As[k][row + 32];
            b4[0] = *(float4*)&Bs[k][col];
            b4[1] = *(float4*)&Bs[k][col + 16];
            for (int i = 0; i < TM; ++i)
                for (int n = 0; n < TN; ++n) {
                    const int j = i % 2 ? TN - 1 - n : n;    // even rows go forth, odd rows back
                    sum[i][j] += a[i] * b[j];
                }
        }
        __syncthreads();         // everyone has read them
    }

    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + row + i / 4 * 32 + i % 4, c = col0 + col + j / 4 * 16 + j % 4;
            if (r < M && c < N)
                C[r * ldc + c] = alpha * sum[i][j] + (beta == 0.0f ? 0.0f : beta * C[r * ldc + c]);
        }
}
