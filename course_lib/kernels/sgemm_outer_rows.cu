// sgemm_outer_rows.cu -- rank-1 updates the other way round: rows of B in registers, a tile of A in shared memory
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      loop order (s, i, j): right for row-major matrices, where the neighbours of B lie along its rows
// Launch    grid (ceil(N/THREADS), ceil(M/ROWS)), block (THREADS): ROWS elements of a column of C per thread
// Shared    4 * BK * (ROWS+1) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; columns of B are clamped, tiles are filled up with 0
// Lesson    notebooks/09_outer_product.ipynb
#ifndef THREADS       // the launcher passes all three with -D, or none
#define THREADS 64
#define ROWS 16
#define BK 16
#endif
static_assert(THREADS % BK == 0 && THREADS <= 1024, "the threads of a block read whole rows of the tile of A");
static_assert(ROWS <= 128, "a thread keeps its ROWS sums in registers, of which it has 255");
static_assert(4 * BK * (ROWS + 1) <= 48 * 1024, "the tile lies in the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_outer_rows(int M, int N, int K, float alpha, const float* A, int lda,
                 const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float a[BK][ROWS + 1];          // a[k][i]; padded, because it is written along k
    const int t = threadIdx.x, first_row = blockIdx.y * ROWS, col = blockIdx.x * THREADS + t;
    const int b_col = col < N ? col : N - 1;   // a column that exists; what comes of it is not stored
    float c[ROWS] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int v = t; v < BK * ROWS; v += THREADS) {
            const int k = v % BK, i = v / BK;
            a[k][i] = first_row + i < M && k0 + k < K ? A[(first_row + i) * lda + k0 + k] : 0.0f;
        }
        __syncthreads();                       // the tile is complete
        for (int k = 0; k < BK && k0 + k < K; ++k) {
            const float b = B[(k0 + k) * ldb + b_col];
            for (int i = 0; i < ROWS; ++i) c[i] += a[k][i] * b;
        }
        __syncthreads();                       // everyone has read it
    }

    for (int i = 0; i < ROWS; ++i) {
        const int row = first_row + i;
        if (row < M && col < N) {
            float* out = &C[row * ldc + col];
            *out = alpha * c[i] + (beta == 0.0f ? 0.0f : beta * *out);   // beta 0: C is not read
        }
    }
}
