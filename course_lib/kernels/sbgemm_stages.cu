// sbgemm_stages.cu -- bfloat16 on tensor cores: STAGES tiles share the shared memory, one is multiplied, the others are on their way
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; A and B bfloat16 (16 bits), C, alpha, beta and sums float32
// Idea      sbgemm_mma.cu with copies that nobody waits for: cp.async to shared memory, and from there to registers one product ahead
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    2 * STAGES * (BM*(BK+8) + BK*(BN+8)) bytes per block, dynamic
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are copied through registers; CC 8.0 and up
// Lesson    none yet      Next  none yet
#ifndef BM            // the launcher passes all six with -D, or none
#define BM 128
#define BN 256
#define BK 64
#define WM 64
#define WN 64
#define STAGES 3
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensor cores take bfloat16 from compute capability 8.0 on: compile for sm_80 or newer"
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA (BK + 8)  // elements from one row of As to the next: 16 bytes of each of 8 rows lie in 32 different banks
#define LDB (BN + 8)
#define STAGE (BM * LDA + BK * LDB)
#define LANES(cols) ((cols) % 64 ? 4 : 8)      // that copy neighbours, 16 bytes each, in rows of so many elements
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings 16 rows of A, or 16 columns of B");
static_assert(BK % 32 == 0 && BN % 32 == 0, "4 or 8 lanes copy neighbours, and registers are loaded in two sets by turns");
static_assert(BM % (THREADS / LANES(BK)) == 0 && BK % (THREADS / LANES(BN)) == 0, "every thread copies as many vectors");
static_assert(WM * WN / 32 <= 192, "the sums of a lane are in registers");
static_assert(BM * BN <= 48 * 1024, "the sums of a block are in registers");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(2 * STAGES * STAGE <= 227 * 1024, "a block can ask for 227 KiB of shared memory");

#include "bf16.cuh"
#include "load8.cuh"

// Copy ROWS x COLS elements to a tile, 16 bytes a thread at a time; p: the first of them, `rows` x `cols` are inside, the others are 0.
// WIDE: without waiting and without a branch, so that the copies can lie among the products; `now` false: nothing. Else through registers.
template <int ROWS, int COLS, int LD, bool WIDE>
__device__ __forceinline__ void copy_tile(unsigned short* tile, const unsigned short* p, int ld, int rows, int cols, bool now) {
    constexpr int DOWN = THREADS / LANES(COLS), ALONG = 8 * LANES(COLS);       // rows and elements that all threads copy at a time
    const int row = threadIdx.x / LANES(COLS), col = threadIdx.x % LANES(COLS) * 8;
    tile += row * LD + col, p += (size_t)row * ld + col, rows -= row, cols -= col;
    const unsigned to = __cvta_generic_to_shared(tile);
#pragma unroll (WIDE ? ROWS / DOWN : 1)
    for (int i = 0; i < ROWS; i += DOWN, p += (size_t)DOWN * ld)
#pragma unroll (WIDE ? COLS / ALONG : 1)
        for (int j = 0; j < COLS; j += ALONG) {
            const int there = i < rows ? max(0, min(cols - j, 8)) : 0;
            if constexpr (WIDE)
                asm volatile("{ .reg .pred %%now; setp.ne.b32 %%now, %3, 0; @%%now cp.async.cg.shared.global [%0], [%1], 16, %2; }"
                             ::"r"(to + 2 * (i * LD + j)), "l"(p + j), "r"(2 * there), "r"((int)now));
            else *reinterpret_cast<uint4*>(&tile[i * LD + j]) = load8(p + j, there, false);
        }
}

extern "C" __global__ void __launch_bounds__(THREADS)
sbgemm_stages(int M, int N, int K, float alpha, const unsigned short* __restrict__ A, int lda,
              const unsigned short* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8, PAIRS = NT / 2, PARTS = BK / 16 * PAIRS;        // a step's pairs of tiles of B
    extern __shared__ __align__(16) unsigned short shared[];                   // STAGES times As[BM][LDA], Bs[BK][LDB]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool wide = aligned16(A, lda) && aligned16(B, ldb);
    float acc[MT][NT][4] = {};
    unsigned a[2][MT][4], b[2][4];             // in use, and on their way from shared memory

    const unsigned short* next_a = A + (size_t)block_row * lda, *next_b = B + block_col;
    unsigned short* into = shared;
    int left = K;
    const auto fetch = [&] {                   // the next step's tiles are under way from here on; zeros after the last
        if (!wide) {
            copy_tile<BM, BK, LDA, false>(into, next_a, lda, M - block_row, left, true);
            copy_tile<BK, BN, LDB, false>(into + BM * LDA, next_b, ldb, left, N - block_col, true);
        }
        copy_tile<BM, BK, LDA, true>(into, next_a, lda, M - block_row, left, wide);
        copy_tile<BK, BN, LDB, true>(into + BM * LDA, next_b, ldb, left, N - block_col, wide);
        next_a += BK, next_b += (size_t)BK * ldb, left -= BK;
        into = into == shared + (STAGES - 1) * STAGE ? shared : into + STAGE;
        asm volatile("cp.async.commit_group;");
    };
    const auto arrived = [] {                  // the oldest stage is complete
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();                       // nobody reads before all copies are there, nor overwrites before all have read
    };
    const unsigned short* stage = shared;      // the one that is used
    const auto load_a = [&](int k, unsigned (&to)[MT][4]) {
        const unsigned short* from = stage + (warp_row + lane % 16) * LDA + lane / 16 * 8 + k;
        for (int i = 0; i < MT; ++i) ldmatrix(to[i], from + 16 * i * LDA);
    };
    const auto load_b = [&](int k, int pair, unsigned (&to)[4]) {
        ldmatrix_transposed(to, stage + BM * LDA + (lane % 16 + k) * LDB + warp_col + lane / 16 * 8 + 16 * pair);
    };

    for (int s = 1; s < STAGES; ++s) fetch();
    arrived();
    load_a(0, a[0]);
    load_b(0, 0, b[0]);
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int n = 0; n < PARTS; ++n) {
            const int k = n / PAIRS, pair = n % PAIRS, next = (n + 1) % PARTS;
            if (next == 0) {                   // all that is read of this stage is in registers, or on its way to them
                stage = stage == shared + (STAGES - 1) * STAGE ? shared : stage + STAGE;
                arrived();
            }
            load_b(next / PAIRS * 16, next % PAIRS, b[(n + 1) % 2]);           // while the products of this pair go on
            if (pair == PAIRS - 1) load_a(next / PAIRS * 16, a[(k + 1) % 2]);
            if (n == 0) fetch();
            for (int i = 0; i < MT; ++i)
                for (int h = 0; h < 2; ++h) mma(acc[i][2 * pair + h], a[k % 2][i], b[n % 2][2 * h], b[n % 2][2 * h + 1]);
        }
    asm volatile("cp.async.wait_all;" ::: "memory");

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
