// sbgemm_mma.cu -- A and B are stored as bfloat16: half the bytes from memory too, and nothing to round
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; A and B bfloat16 (16 bits), C, alpha, beta and sums float32
// Idea      sgemm_bf16.cu without the conversion: what lies in memory is what ldmatrix reads, eight elements a vector
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    2 * (BM*(BK+8) + BK*(BN+8)) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are loaded element by element; CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  sbgemm_stages.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 64
#define WM 64
#define WN 32
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensor cores take bfloat16 from compute capability 8.0 on: compile for sm_80 or newer"
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA (BK + 8)  // elements from one row of As to the next: 16 bytes of each of 8 rows lie in 32 different banks
#define LDB (BN + 8)
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings 16 rows of A, or 16 columns of B");
static_assert(BM * BK % (8 * THREADS) == 0 && BK * BN % (8 * THREADS) == 0, "every thread loads as many vectors");
static_assert(BK % 16 == 0, "an instruction multiplies 16 x 16 by 16 x 8");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(WM * WN / 32 <= 128, "the sums of a lane are in registers");
static_assert(BM * BN <= 32 * 1024, "the sums of a block are in registers");
static_assert(2 * (BM * LDA + BK * LDB) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

#include "bf16.cuh"
#include "load8.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
sbgemm_mma(int M, int N, int K, float alpha, const unsigned short* A, int lda,
           const unsigned short* B, int ldb, float beta, float* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;       // tiles of 16 x 8 of a warp
    constexpr int VA = BM * BK / 8 / THREADS, VB = BK * BN / 8 / THREADS;   // vectors that a thread loads
    __shared__ __align__(16) unsigned short As[BM][LDA], Bs[BK][LDB];       // bits of bfloat16
    const int th = threadIdx.x, lane = th % 32, warp = th / 32;
    const int g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float acc[MT][NT][4] = {};
    uint4 next_a[VA], next_b[VB];

    const auto fetch = [&](int k0) {           // global memory to registers
        for (int n = 0; n < VA; ++n) {
            const int v = th + n * THREADS, row = block_row + v / (BK / 8), k = k0 + v % (BK / 8) * 8;
            next_a[n] = load8(&A[(size_t)row * lda + k], row < M ? K - k : 0, a16);
        }
        for (int n = 0; n < VB; ++n) {
            const int v = th + n * THREADS, k = k0 + v / (BN / 8), col = block_col + v % (BN / 8) * 8;
            next_b[n] = load8(&B[(size_t)k * ldb + col], k < K ? N - col : 0, b16);
        }
    };

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = 0; n < VA; ++n) {
            const int v = th + n * THREADS;
            *reinterpret_cast<uint4*>(&As[v / (BK / 8)][v % (BK / 8) * 8]) = next_a[n];
        }
        for (int n = 0; n < VB; ++n) {
            const int v = th + n * THREADS;
            *reinterpret_cast<uint4*>(&Bs[v / (BN / 8)][v % (BN / 8) * 8]) = next_b[n];
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products

        for (int k = 0; k < BK; k += 16) {
            unsigned a[MT][4], b[NT / 2][4];
            for (int i = 0; i < MT; ++i) ldmatrix(a[i], &As[warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);
            for (int j = 0; j < NT / 2; ++j) ldmatrix_transposed(b[j], &Bs[k + lane % 16][warp_col + 16 * j + lane / 16 * 8]);
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

#pragma unroll
    for (int half = 0; half < 2 * MT; ++half) {        // a row of this lane: all of C that it needs is asked for before the first is used
        const int row = block_row + warp_row + 8 * half + g;
        float* out = C + (size_t)row * ldc;
        float old[NT][2] = {};                 // beta 0: C is not read
#pragma unroll
        for (int store = 0; store < 2; ++store)
            for (int j = 0; j < NT; ++j)
                for (int e = 0; e < 2; ++e) {
                    const int col = block_col + warp_col + 8 * j + 2 * t + e;
                    if (row >= M || col >= N) continue;
                    if (!store && beta != 0.0f) old[j][e] = out[col];
                    if (store) out[col] = alpha * acc[half / 2][j][half % 2 * 2 + e] + beta * old[j][e];
                }
    }
}
