// two_columns_by_name.cu -- another right solution: two columns by name, addresses clamped along K, 64 threads
//
// Part             main-b
#define THREADS 64
#define VECTORS 2
#define ROWS 24
#define BK 16
extern "C" __global__ void __launch_bounds__(THREADS)
outer_rows(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float a[BK][ROWS + 4];        // a[k][i]; rows begin at multiples of 16 bytes
    const int t = threadIdx.x;                             // THREADS threads
    const int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * (THREADS * VECTORS) + t;
    const int one = min(first_col, N - 1), two = min(first_col + THREADS, N - 1);
    float c[VECTORS][ROWS] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = t; n < BK * ROWS; n += THREADS) {     // BK neighbouring threads read a row of A
            const int k = n % BK, i = n / BK;
            a[k][i] = k0 + k < K && first_row + i < M ? A[(first_row + i) * lda + k0 + k] : 0.0f;
        }
        __syncthreads();                                   // nobody reads before the tile is complete
        for (int k = 0; k < BK; ++k) {
            const int last = min(k0 + k, K - 1) * ldb;     // beyond K the tile holds 0
            const float y[VECTORS] = {B[last + one], B[last + two]};
            for (int i = 0; i < ROWS; ++i)
                for (int v = 0; v < VECTORS; ++v)
                    c[v][i] += a[k][i] * y[v];
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const int row = first_row + i, col = first_col + v * THREADS;
            if (row < M && col < N) {
                float* out = &C[row * ldc + col];
                *out = alpha * c[v][i] + (beta == 0.0f ? 0.0f : beta * *out);
            }
        }
}
