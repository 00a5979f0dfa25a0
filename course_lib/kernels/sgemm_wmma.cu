// sgemm_wmma.cu -- tensor cores by the compiler's own names: nvcuda::wmma
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32; A and B are rounded to TF32
// Idea      a warp multiplies 16 x 8 by 8 x 16 with one call; which lane holds which element is the compiler's affair
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/16 tiles of 16 x 16
// Shared    4 * (BM*(BK+4) + BK*(BN+8) + 16*24 * warps) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; elements from 2^127 * (2 - 2^-11) on round to infinity; CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  sgemm_mma.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 64
#define BN 64
#define BK 32
#define WM 32
#define WN 32
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensor cores take TF32 from compute capability 8.0 on: compile for sm_80 or newer"
#endif
#include <mma.h>
#define WARPS ((BM / WM) * (BN / WN))
#define THREADS (32 * WARPS)
#define LDA_S (BK + 4)    // padding: 8 rows x 4 columns, and 4 x 8, lie in 32 different banks
#define LDB_S (BN + 8)
#define LDC_S 24         // what a warp stores lies in different banks, and so do rows r and r + 2
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 16 == 0 && BK % 8 == 0, "a call multiplies 16 x 8 by 8 x 16");
static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread loads as many elements, four at least");
static_assert(WM * WN / 32 <= 128, "the sums of a lane are in registers");
static_assert(BM * BN <= 32 * 1024, "the sums of a block are in registers");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(4 * (BM * LDA_S + BK * LDB_S + WARPS * 16 * LDC_S) <= 48 * 1024, "a block has 48 KiB of static shared memory");
using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_wmma(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 16;      // tiles of 16 x 16 of a warp
    __shared__ __align__(32) float As[BM][LDA_S], Bs[BK][LDB_S], Cs[WARPS][16][LDC_S];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc[MT][NT];
    for (int i = 0; i < MT; ++i)
        for (int j = 0; j < NT; ++j) wmma::fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int m = 0; m < BM * BK / THREADS; ++m) {
            const int n = t + m * THREADS, i = n / BK, k = n % BK;
            const bool inside = block_row + i < M && k0 + k < K;
            As[i][k] = inside ? wmma::__float_to_tf32(A[(block_row + i) * lda + k0 + k]) : 0.0f;
        }
        for (int m = 0; m < BK * BN / THREADS; ++m) {
            const int n = t + m * THREADS, k = n / BN, j = n % BN;
            const bool inside = k0 + k < K && block_col + j < N;
            Bs[k][j] = inside ? wmma::__float_to_tf32(B[(k0 + k) * ldb + block_col + j]) : 0.0f;
        }
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < BK; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[MT];
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b[NT];
            for (int i = 0; i < MT; ++i) wmma::load_matrix_sync(a[i], &As[warp_row + 16 * i][k], LDA_S);
            for (int j = 0; j < NT; ++j) wmma::load_matrix_sync(b[j], &Bs[k][warp_col + 16 * j], LDB_S);
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    // A lane does not know its elements: the sums go through shared memory.
    #pragma unroll
    for (int i = 0; i < MT; ++i)
        #pragma unroll
        for (int j = 0; j < NT; ++j) {
            wmma::store_matrix_sync(&Cs[warp][0][0], acc[i][j], LDC_S, wmma::mem_row_major);
            __syncwarp();                      // the tile is complete
            for (int n = 0; n < 8; ++n) {
                const int r = n / 2 * 4 + n % 2 + lane / 16 * 2, c16 = lane % 16;     // rows r and r + 2: all 32 banks
                const int row = block_row + warp_row + 16 * i + r, col = block_col + warp_col + 16 * j + c16;
                if (row < M && col < N) {
                    float* c = &C[row * ldc + col];
                    *c = alpha * Cs[warp][r][c16] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read
                }
            }
            __syncwarp();                      // all have read before the next tile comes
        }
}
