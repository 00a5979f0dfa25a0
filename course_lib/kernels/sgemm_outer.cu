// sgemm_outer.cu -- rank-1 updates: columns of A in registers, a tile of B in shared memory (Volkov, and Chien's methods)
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       COLUMN-major float32: element (i, j) is at i + j * ld
// Idea      an element of B, once read from shared memory, serves VECTORS rows of C; one of A serves COLS columns
// Launch    grid (blocks along M, ceil(N/COLS)), block (THREADS): VECTORS rows of COLS elements per thread
// Shared    4 * BK * (COLS+1) bytes per block
// Strides   lda, ldb, ldc: elements from one column to the next
// Edges     GUARD 0: whole tiles only; 1: A is tested in the loop; 2: in the last tile only; 3: rows are clamped (any size)
// Lesson    notebooks/09_outer_product.ipynb, guards: notebooks/10_any_size.ipynb      Next  sgemm_outer_rows.cu
#ifndef THREADS       // the launcher passes all seven with -D, or none
#define THREADS 64    // rows of a vector of A
#define VECTORS 1     // vectors of A that a block multiplies
#define COLS 16       // columns of C of a block (BLOCK_SIZE_Y in the document)
#define BK 16         // columns of A that a tile of B meets (BLOCK_SIZE_X)
#define GAP 1         // a block's vectors lie GAP * THREADS rows apart; the blocks between fill the gap
#define GUARD 3
#define SEL 0         // 1: one loop for whole and for cut tiles of B, told apart by a flag (method 6)
#endif
static_assert(THREADS % BK == 0 && THREADS <= 1024, "the threads of a block read whole columns of the tile of B");
static_assert(VECTORS * COLS <= 128, "a thread keeps its VECTORS*COLS sums in registers, of which it has 255");
static_assert(4 * BK * (COLS + 1) <= 48 * 1024, "the tile lies in the 48 KiB of static shared memory of a block");

// Products of `depth` columns of A, from a[] on, with the tile; `tested`: rows beyond M count as 0.
template <int unrolled, bool tested>
__device__ __forceinline__ void update(int depth, const float* (&a)[VECTORS], const bool (&inside)[VECTORS], int lda,
                                       const float (&b)[BK][COLS + 1], float (&c)[VECTORS][COLS]) {
#pragma unroll(unrolled)
    for (int k = 0; k < depth; ++k) {
        float x[VECTORS];
        for (int v = 0; v < VECTORS; ++v) {
            x[v] = !tested || inside[v] ? *a[v] : 0.0f;
            a[v] += lda;
        }
#pragma unroll
        for (int j = 0; j < COLS; ++j)
            for (int v = 0; v < VECTORS; ++v) c[v][j] += x[v] * b[k][j];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_outer(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float b[BK][COLS + 1];          // b[k][j]; padded, because it is written along k
    const int t = threadIdx.x;
    const int first = (blockIdx.x / GAP * VECTORS * GAP + blockIdx.x % GAP) * THREADS + t;
    const int first_col = blockIdx.y * COLS;
    const bool cut = GUARD && first_col + COLS > N;        // this block's columns of B reach beyond N
    const float* a[VECTORS];
    bool inside[VECTORS];
    for (int v = 0; v < VECTORS; ++v) {
        const int row = first + v * GAP * THREADS;
        inside[v] = row < M;
        a[v] = &A[GUARD == 3 && row >= M ? M - 1 : row];   // 3: a row that exists; what comes of it is not stored
    }
    float c[VECTORS][COLS] = {};

    const auto load = [&](int k0, bool tested) {           // a tile of B: BK neighbouring threads read a column
        for (int i = t; i < BK * COLS; i += THREADS) {
            const int k = i % BK, j = i / BK;
            b[k][j] = !tested || (k0 + k < K && first_col + j < N) ? B[k0 + k + (first_col + j) * ldb] : 0.0f;
        }
        __syncthreads();                       // the tile is complete
    };
    const int whole = GUARD == 2 ? (K - 1) / BK * BK : K / BK * BK;   // 2: the last column of A is never in a whole tile
    if (SEL || cut) {
        for (int k0 = 0; k0 < whole; k0 += BK) {
            load(k0, cut);
            update<BK, GUARD == 1>(BK, a, inside, lda, b, c);
            __syncthreads();                   // everyone has read it
        }
    } else {
        for (int k0 = 0; k0 < whole; k0 += BK) {
            load(k0, false);
            update<BK, GUARD == 1>(BK, a, inside, lda, b, c);
            __syncthreads();                   // everyone has read it
        }
    }
    if (whole < K) {
        load(whole, true);
        update<1, GUARD == 1 || GUARD == 2>(K - whole, a, inside, lda, b, c);
    }

#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
            const int row = first + v * GAP * THREADS, col = first_col + j;
            if (row < M && col < N) {
                float* out = &C[row + col * ldc];
                *out = alpha * c[v][j] + (beta == 0.0f ? 0.0f : beta * *out);   // beta 0: C is not read
            }
        }
}
