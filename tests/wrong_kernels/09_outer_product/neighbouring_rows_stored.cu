// neighbouring_rows_stored.cu -- computes rows THREADS apart and stores them as neighbours
//
// Part             main
// Must fail for    wrong: C[1][0] is
#define THREADS 128
#define VECTORS 2
#define COLS 24
#define BK 16
extern "C" __global__ void __launch_bounds__(THREADS)
outer(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float b[BK][COLS + 4];        // b[k][j]; rows begin at multiples of 16 bytes
    const int t = threadIdx.x;                             // THREADS threads
    const int first_row = blockIdx.x * (THREADS * VECTORS) + t, first_col = blockIdx.y * COLS;
    const float* a[VECTORS];
    for (int v = 0; v < VECTORS; ++v) {
        const int row = first_row + v * THREADS;
        a[v] = &A[row < M ? row : M - 1];                  // a row that exists; what comes of it is not stored
    }
    float c[VECTORS][COLS] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = t; i < BK * COLS; i += THREADS) {     // BK neighbouring threads read a column of B
            const int k = i % BK, j = i / BK;
            b[k][j] = k0 + k < K && first_col + j < N ? B[k0 + k + (first_col + j) * ldb] : 0.0f;
        }
        __syncthreads();                                   // nobody reads before the tile is complete
        for (int k = 0; k < BK; ++k) {
            float x[VECTORS];
            for (int v = 0; v < VECTORS; ++v)
                x[v] = k0 + k < K ? a[v][(k0 + k) * lda] : 0.0f;
            for (int j = 0; j < COLS; ++j)
                for (int v = 0; v < VECTORS; ++v)
                    c[v][j] += x[v] * b[k][j];
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
            const int row = blockIdx.x * (THREADS * VECTORS) + t * VECTORS + v, col = first_col + j;
            if (row < M && col < N) {
                float* out = &C[row + col * ldc];
                *out = alpha * c[v][j] + (beta == 0.0f ? 0.0f : beta * *out);
            }
        }
}
