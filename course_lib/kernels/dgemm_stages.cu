// dgemm_stages.cu -- float64 on tensor cores: STAGES tiles share the shared memory, one is multiplied, the others are on their way
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float64
// Idea      cp.async copies without waiting; a wait that leaves the youngest STAGES-2 groups of copies under way (one stage: none)
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    8 * STAGES * (BM*(BK+4) + BK*(BN+4)) bytes per block, dynamic
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are copied double by double; CC 9.0 and up
// Lesson    notebooks/17_stages.ipynb      Next  dgemm_stream_k.cu
#ifndef BM            // the launcher passes all six with -D, or none
#define BM 128
#define BN 128
#define BK 16
#define WM 64
#define WN 32
#define STAGES 3
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA (BK + 4)  // doubles from one row of As to the next: 4 rows x 4 columns of a half-warp lie in 32 different banks
#define LDB (BN + 4)
#define AS (BM * LDA) // doubles of a tile
#define BS (BK * LDB)
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 8 == 0, "an instruction multiplies 16 x 8 by 8 x 8");
static_assert(BK % 16 == 0 && BN % 16 == 0, "the padding is made for rows of whole lines of all banks");
static_assert(BM * BK % (2 * THREADS) == 0 && BK * BN % (2 * THREADS) == 0, "every thread copies as many pairs");
static_assert(STAGES >= 1, "a step's tiles lie somewhere");
static_assert(8 * STAGES * (AS + BS) <= 227 * 1024, "a block can ask for 227 KiB of shared memory");

// Start to copy a pair of doubles to shared memory; `there` of them are inside the matrix, the others are 0.
__device__ __forceinline__ void copy2(double* to, const double* from, int there, bool wide) {
    const unsigned shared = __cvta_generic_to_shared(to);
    if (wide) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(8 * there) : "memory");
    else
        for (int n = 0; n < 2; ++n)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared + 8 * n), "l"(from + n), "r"(n < there ? 8 : 0) : "memory");
}

// Wait until at most LEFT of this thread's groups of copies are under way, the youngest ones.
template <int LEFT> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

#include "dmma.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_stages(int M, int N, int K, double alpha, const double* A, int lda,
             const double* B, int ldb, double beta, double* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;   // tiles of 16 x 8 of a warp
    constexpr int AHEAD = STAGES > 2 ? STAGES - 2 : 0;     // steps that may be under way behind a wait
    extern __shared__ __align__(16) double shared[];       // STAGES times As and Bs
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    double acc[MT][NT][4] = {};

    const auto fetch = [&](int step) {         // the tiles of this step are on their way from here on; zeros where K has ended
        double* stage = shared + step % STAGES * (AS + BS);
        const int k0 = step * BK, left = max(K - k0, 0);
        copy_tile<BM, BK, LDA>(stage, &A[(size_t)block_row * lda + k0], lda, M - block_row, left, a16);
        copy_tile<BK, BN, LDB>(stage + AS, &B[(size_t)k0 * ldb + block_col], ldb, left, N - block_col, b16);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    for (int step = 0; step * BK < K; ++step) {
        if (STAGES > 1) wait<AHEAD>();         // this thread's copies of this step have arrived
        __syncthreads();                       // and all others'; all have read the step before, whose stage comes next
        fetch(step + STAGES - 1);
        if (STAGES == 1) {                     // these were this step's own copies: nothing but to wait for them
            wait<0>();
            __syncthreads();                   // all others' have arrived, too
        }
        const double* As = shared + step % STAGES * (AS + BS) + warp_row * LDA, *Bs = shared + step % STAGES * (AS + BS) + AS + warp_col;
#pragma unroll
        for (int k = 0; k < BK; k += 8) {
            double a[MT][4], b[NT][2];
            for (int i = 0; i < MT; ++i)
                for (int e = 0; e < 4; ++e) a[i][e] = As[(16 * i + g + e % 2 * 8) * LDA + k + t + e / 2 * 4];
            for (int j = 0; j < NT; ++j)
                for (int e = 0; e < 2; ++e) b[j][e] = Bs[(k + t + 4 * e) * LDB + 8 * j + g];
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) mma(acc[i][j], a[i], b[j]);
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");

    for (int i = 0; i < MT; ++i)
        for (int j = 0; j < NT; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = block_row + warp_row + 16 * i + g + e / 2 * 8;
                const int col = block_col + warp_col + 8 * j + 2 * t + e % 2;
                if (row < M && col < N) {
                    double* c = &C[(size_t)row * ldc + col];
                    *c = alpha * acc[i][j][e] + (beta == 0 ? 0 : beta * *c);       // beta 0: C is not read
                }
            }
}
