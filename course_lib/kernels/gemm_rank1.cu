// gemm_rank1.cu -- Wang and Jin's final kernel as outer products: a rank-1 update of a thread's own corner of C for each k
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major, REAL = float or double
// Idea      as in gemm_outputs.cu k is outermost, but a thread's outputs are neighbours: its column of A, its row of B come in vectors
// Launch    grid (ceil(N/TB), ceil(M/TA)), block (bx, by): TA/by x TB/bx elements of C per thread
// Shared    TW * (TA + TB) * sizeof(REAL) + 16 * TW bytes per block: 16 bytes behind each row of the turned tile
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; no test in the loop when TA, TB, TW divide M, N, K
// Lesson    notebooks/15_closing_in.ipynb      Next  gemm_dots.cu
#ifndef REAL
#define REAL double
#endif
#ifndef TA            // the launcher passes all five with -D, or none
#define TA 64         // rows of the tile of A, and of C (BM elsewhere in the course)
#define TB 64         // columns of the tile of B, and of C (BN)
#define TW 16         // columns of the tile of A, rows of B's (BK)
#define BX 16         // threads along x (bx)
#define BY 16         // threads along y (by)
#endif
#define PAD (16 / (int)sizeof(REAL))   // elements: lanes that fill a column of the turned tile meet 4 banks apart
static_assert(TA % BY == 0 && TB % BX == 0, "every thread computes as many elements");
static_assert(BX * BY <= 1024, "a block has at most 1024 threads");
static_assert(TW * (TA + PAD + TB) * sizeof(REAL) <= 48 * 1024, "both tiles share the 48 KiB of static shared memory of a block");

template <bool guarded>
__device__ __forceinline__ void product(int M, int N, int K, const REAL* A, int lda, const REAL* B, int ldb,
                                        REAL (&a)[TW][TA + PAD], REAL (&b)[TW][TB], REAL (&c)[TA / BY][TB / BX]) {
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx;
    const int block_row = blockIdx.y * TA, block_col = blockIdx.x * TB;

    for (int k0 = 0; k0 < K; k0 += TW) {
        for (int v = t; v < TA * TW; v += BX * BY) {
            const int row = block_row + v / TW, k = k0 + v % TW;
            a[v % TW][v / TW] = !guarded || (row < M && k < K) ? A[row * lda + k] : 0;
        }
        for (int v = t; v < TW * TB; v += BX * BY) {
            const int k = k0 + v / TB, col = block_col + v % TB;
            b[v / TB][v % TB] = !guarded || (k < K && col < N) ? B[k * ldb + col] : 0;
        }
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TW; ++k) {
            REAL column[TA / BY], row[TB / BX];
            for (int i = 0; i < TA / BY; ++i) column[i] = a[k][ty * (TA / BY) + i];
            for (int j = 0; j < TB / BX; ++j) row[j] = b[k][tx * (TB / BX) + j];
            for (int i = 0; i < TA / BY; ++i)
                for (int j = 0; j < TB / BX; ++j)
                    c[i][j] += column[i] * row[j];
        }
        __syncthreads();                       // nobody overwrites before all have read
    }
}

extern "C" __global__ void __launch_bounds__(BX * BY)
gemm_rank1(int M, int N, int K, REAL alpha, const REAL* A, int lda,
           const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {
    __shared__ REAL a[TW][TA + PAD], b[TW][TB];
    const int block_row = blockIdx.y * TA, block_col = blockIdx.x * TB;
    REAL c[TA / BY][TB / BX] = {};
    if (block_row + TA <= M && block_col + TB <= N && K % TW == 0) product<false>(M, N, K, A, lda, B, ldb, a, b, c);
    else product<true>(M, N, K, A, lda, B, ldb, a, b, c);

    for (int i = 0; i < TA / BY; ++i)
        for (int j = 0; j < TB / BX; ++j) {
            const int row = block_row + threadIdx.y * (TA / BY) + i, col = block_col + threadIdx.x * (TB / BX) + j;
            if (row < M && col < N) {
                REAL* out = &C[row * ldc + col];
                *out = alpha * c[i][j] + (beta == 0 ? 0 : beta * *out);   // beta 0: C is not read
            }
        }
}
