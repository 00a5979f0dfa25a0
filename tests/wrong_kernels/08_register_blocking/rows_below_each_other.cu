// rows_below_each_other.cu -- right, but the two rows that a warp reads are 64 words apart, in one bank
//
// Part             main
// Must fail for    gate: 1024 of the 2048 wavefronts of this line are bank conflicts
#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
extern "C" __global__ void
blocked(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;          // BN / TN x BM / TM threads
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;   // first element of the tile of C
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {                   // any number of threads fills the tiles
        for (int i = ty; i < BM; i += BM / TM)
            for (int k = tx; k < BK; k += BN / TN)
                As[i][k] = block_row + i < M && k0 + k < K ? A[(block_row + i) * lda + k0 + k] : 0.0f;
        for (int k = ty; k < BK; k += BM / TM)
            for (int j = tx; j < BN; j += BN / TN)
                Bs[k][j] = k0 + k < K && block_col + j < N ? B[(k0 + k) * ldb + block_col + j] : 0.0f;
        __syncthreads();                                   // nobody reads before both tiles are complete
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i)
                a[i] = As[TM * ty + i][k];
            for (int j = 0; j < TN; ++j)
                b[j] = Bs[k][tx + j * (BN / TN)];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + TM * ty + i, col = block_col + tx + j * (BN / TN);
            if (row < M && col < N) {
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);
            }
        }
}
