// eight_lanes_on_one_bank.cu -- right, but the stores to As collide: eight lanes along k, rows of 128 words
//
// Part             wide
// Must fail for    gate: 3584 of the 4096 wavefronts of this line are bank conflicts
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
extern "C" __global__ void
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BK][BM], Bs[BK][BN];               // As[k][row]: a thread's rows lie side by side
    const int tx = threadIdx.x, ty = threadIdx.y;          // BN / TN x BM / TM threads
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;   // first element of the tile of C
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = ty; i < BM; i += BM / TM)
            for (int k = tx; k < BK; k += BN / TN)
                As[k][i] = block_row + i < M && k0 + k < K ? A[(block_row + i) * lda + k0 + k] : 0.0f;
        for (int k = ty; k < BK; k += BM / TM)
            for (int j = tx; j < BN; j += BN / TN)
                Bs[k][j] = k0 + k < K && block_col + j < N ? B[(k0 + k) * ldb + block_col + j] : 0.0f;
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
