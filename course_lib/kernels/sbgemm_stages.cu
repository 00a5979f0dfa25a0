// sbgemm_stages.cu -- bfloat16 on tensor cores: STAGES tiles share the shared memory, one is multiplied, the others are on their way
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; A and B bfloat16 (16 bits), C, alpha, beta and sums float32
// Idea      sbgemm_mma.cu with copies that nobody waits for: cp.async to shared memory, and from there to registers one product ahead
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    2 * STAGES * (BM*(BK+8) + BK*(BN+8)) bytes per block, dynamic
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix, but fast where rows are 16-byte aligned and N and K multiples of 8; CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  sbgemm_tma.cu
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

// Copy ROWS x COLS elements to a tile through registers, as their rows begin anywhere; p: the first of them, `rows` x `cols` are inside.
template <int ROWS, int COLS, int LD>
__device__ __forceinline__ void copy_tile(unsigned short* tile, const unsigned short* p, int ld, int rows, int cols) {
#pragma unroll 1
    for (int n = threadIdx.x; n < ROWS * COLS / 8; n += THREADS) {
        const int i = n / (COLS / 8), j = n % (COLS / 8) * 8;
        *reinterpret_cast<uint4*>(&tile[i * LD + j]) = load8(p + (size_t)i * ld + j, i < rows ? cols - j : 0, false);
    }
}

// Start to copy 16 bytes if `now`, zeros if they are not inside; no branch, so that the copies can lie among the products.
__device__ __forceinline__ void copy16(unsigned to, const unsigned short* from, bool inside, bool now) {
    asm volatile("{ .reg .pred %%now; setp.ne.b32 %%now, %3, 0; @%%now cp.async.cg.shared.global [%0], [%1], 16, %2; }"
                 ::"r"(to), "l"(from), "r"(inside ? 16 : 0), "r"((int)now));
}

extern "C" __global__ void __launch_bounds__(THREADS)
sbgemm_stages(int M, int N, int K, float alpha, const unsigned short* __restrict__ A, int lda,
              const unsigned short* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8, PAIRS = NT / 2, PARTS = BK / 16 * PAIRS;        // a step's pairs of tiles of B
    constexpr int DOWN_A = THREADS / LANES(BK), DOWN_B = THREADS / LANES(BN);                // rows that all threads copy at a time
    constexpr int ACROSS_A = BK / (8 * LANES(BK)), ACROSS_B = BN / (8 * LANES(BN));          // vectors of a thread in a row
    constexpr int VA = BM / DOWN_A * ACROSS_A, VB = BK / DOWN_B * ACROSS_B;                  // and in a tile
    extern __shared__ __align__(16) unsigned short shared[];                   // STAGES times As[BM][LDA], Bs[BK][LDB]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool wide = aligned16(A, lda) && aligned16(B, ldb) && N % 8 == 0 && K % 8 == 0;      // a vector is inside or outside
    float acc[MT][NT][4] = {};
    unsigned a[2][MT][4], b[2][4];             // in use, and on their way from shared memory

    const int row_a = threadIdx.x / LANES(BK), col_a = threadIdx.x % LANES(BK) * 8, rows = M - block_row - row_a;
    const int row_b = threadIdx.x / LANES(BN), col_b = threadIdx.x % LANES(BN) * 8, cols = N - block_col - col_b;
    const unsigned short* next_a = A + (size_t)(block_row + row_a) * lda + col_a, *next_b = B + (size_t)row_b * ldb + block_col + col_b;
    unsigned short* into = shared;             // the stage that is filled
    int left = K;
    const auto copy = [&](int n) {             // the n-th vector of the next step is under way from here on; zeros after the last step
        const int i = n < VA ? n / ACROSS_A * DOWN_A : (n - VA) / ACROSS_B * DOWN_B;
        const int j = n < VA ? n % ACROSS_A * 8 * LANES(BK) : (n - VA) % ACROSS_B * 8 * LANES(BN);
        const unsigned to = __cvta_generic_to_shared(into);
        if (n < VA) copy16(to + 2 * ((row_a + i) * LDA + col_a + j), next_a + (size_t)i * lda + j, i < rows && j < left - col_a, wide);
        else copy16(to + 2 * (BM * LDA + (row_b + i) * LDB + col_b + j), next_b + (size_t)i * ldb + j, i < left - row_b && j < cols, wide);
    };
    const auto copied = [&] {                  // all of them are
        if (!wide) {
            copy_tile<BM, BK, LDA>(into, A + (size_t)block_row * lda + K - left, lda, M - block_row, left);
            copy_tile<BK, BN, LDB>(into + BM * LDA, B + (size_t)(K - left) * ldb + block_col, ldb, left, N - block_col);
        }
        asm volatile("cp.async.commit_group;");
        next_a += BK, next_b += (size_t)BK * ldb, left -= BK;
        into = into == shared + (STAGES - 1) * STAGE ? shared : into + STAGE;
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

    for (int s = 1; s < STAGES; ++s) {
#pragma unroll
        for (int n = 0; n < VA + VB; ++n) copy(n);
        copied();
    }
    arrived();
    load_a(0, a[0]);
    load_b(0, 0, b[0]);
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int n = 0; n < PARTS; ++n) {      // a part of a step: one load from shared memory or some, and now and then a copy
            const int k = n / PAIRS, pair = n % PAIRS, next = (n + 1) % PARTS;
#pragma unroll
            for (int c = n; c < VA + VB; c += PARTS) copy(c);
            if (next == 0) {                   // all that is read of this stage is in registers, or on its way to them
                copied();
                stage = stage == shared + (STAGES - 1) * STAGE ? shared : stage + STAGE;
                arrived();
            }
            load_b(next / PAIRS * 16, next % PAIRS, b[(n + 1) % 2]);           // while the products of this pair go on
            if (pair == PAIRS - 1) load_a(next / PAIRS * 16, a[(k + 1) % 2]);
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
