// dgemm_mma.cu -- float64 on tensor cores: a tile is loaded, then multiplied, then the next one is loaded
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float64
// Idea      a warp multiplies 16 x 8 by 8 x 8 doubles with one instruction, from registers to registers
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    8 * (BM*(BK+4) + BK*(BN+4)) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are loaded double by double; CC 9.0 and up
// Lesson    notebooks/17_stages.ipynb      Next  dgemm_stages.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 16
#define WM 64
#define WN 32
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA (BK + 4)  // doubles from one row of As to the next: 4 rows x 4 columns of a half-warp lie in 32 different banks
#define LDB (BN + 4)
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 8 == 0, "an instruction multiplies 16 x 8 by 8 x 8");
static_assert(BK % 16 == 0 && BN % 16 == 0, "the padding is made for rows of whole lines of all banks");
static_assert(BM * BK % (2 * THREADS) == 0 && BK * BN % (2 * THREADS) == 0, "every thread copies as many pairs");
static_assert(8 * (BM * LDA + BK * LDB) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

// Copy a pair of doubles to shared memory; `there` of them are inside the matrix, the others are 0.
__device__ __forceinline__ void copy2(double* to, const double* from, int there, bool wide) {
    double2 v = make_double2(0, 0);
    if (wide && there == 2) v = *reinterpret_cast<const double2*>(from);
    else {
        if (there > 0) v.x = from[0];
        if (there > 1) v.y = from[1];
    }
    *reinterpret_cast<double2*>(to) = v;
}

#include "dmma.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_mma(int M, int N, int K, double alpha, const double* A, int lda,
          const double* B, int ldb, double beta, double* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;   // tiles of 16 x 8 of a warp
    __shared__ __align__(16) double As[BM][LDA], Bs[BK][LDB];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    double acc[MT][NT][4] = {};

    const auto fetch = [&](int k0) {           // the tiles that begin at k0, from global to shared memory
        copy_tile<BM, BK, LDA>(As[0], &A[(size_t)block_row * lda + k0], lda, M - block_row, K - k0, a16);
        copy_tile<BK, BN, LDB>(Bs[0], &B[(size_t)k0 * ldb + block_col], ldb, K - k0, N - block_col, b16);
    };

    for (int k0 = 0; k0 < K; k0 += BK) {
        fetch(k0);
        __syncthreads();                       // nobody reads before both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; k += 8) {
            double a[MT][4], b[NT][2];
            for (int i = 0; i < MT; ++i)
                for (int e = 0; e < 4; ++e) a[i][e] = As[warp_row + 16 * i + g + e % 2 * 8][k + t + e / 2 * 4];
            for (int j = 0; j < NT; ++j)
                for (int e = 0; e < 2; ++e) b[j][e] = Bs[k + t + 4 * e][warp_col + 8 * j + g];
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) mma(acc[i][j], a[i], b[j]);
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

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
