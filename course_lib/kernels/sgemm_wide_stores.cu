// sgemm_wide_stores.cu -- C is read and written 16 bytes at a time
//
// Computes  C[M,N] = alpha * op(A) @ op(B) + beta * C[M,N]         row-major float32; op transposes a matrix or leaves it
// Idea      sgemm_serpentine.cu, but a thread asks for four rows of C before it uses the first, and stores four floats at once
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): TM x TN elements of C per thread
// Shared    4 * STAGES * BK * (BM+4 + BN+4) bytes per block, dynamic
// Strides   lda, ldb, ldc: elements from one row to the next, of A as it is stored: K x M when TRANSA is 1, and B N x K
// Edges     any M, N, K below 2^31 elements a matrix, with WIDE 4 rows of 4n floats and of 16-byte alignment; CC 8.0 and up
// Lesson    none yet      Next  sgemm_stream_k.cu: every multiprocessor gets as much to do
#ifndef BM            // the launcher passes all twelve with -D, or none
#define BM 256
#define BN 128
#define BK 16
#define WM 64
#define WN 64
#define TM 16
#define TN 8
#define STAGES 3
#define RESIDENT 1
#define WIDE 1
#define TRANSA 0
#define TRANSB 0
#endif
#define LM (WM / TM)  // lanes of a warp along the rows of its tile
#define LN (WN / TN)  // and along the columns
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA (BM + 4)  // words from one k to the next in As, and in Bs
#define LDB (BN + 4)
#define STAGE (BK * (LDA + LDB))
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(LM * TM == WM && LN * TN == WN && LM * LN == 32, "32 thread tiles fill a warp tile");
static_assert(LM % 2 == 0 && LN % 2 == 0, "pairs of lanes lie in both directions");
static_assert(TM % 4 == 0 && TN % 4 == 0 && BK % 8 == 0 && BK >= 4, "a vector is four floats, and lanes copy 8 k at a time");
static_assert(WIDE == 1 || WIDE == 4, "a copy brings 4 or 16 bytes");
static_assert(STAGES >= 2, "one stage is used while another is filled");

#include "copy_tile.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
sgemm_wide_stores(int M, int N, int K, float alpha, const float* __restrict__ A, int lda, const float* __restrict__ B, int ldb,
                  float beta, float* __restrict__ C, int ldc) {
    extern __shared__ __align__(16) float shared[];          // STAGES times As[BK][LDA], Bs[BK][LDB]
    const unsigned shared_at = __cvta_generic_to_shared(shared);
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    // Lanes l and l^1 share a row, l and l^2 a column: then a 128-bit shared load merges its phases two by two.
    const int lane_row = (lane >> 1 & 1) + (lane >> 2) % (LM / 2) * 2;
    const int lane_col = (lane & 1) + (lane >> 2) / (LM / 2) * 2;
    const int first_row = warp / (BN / WN) * WM + 4 * lane_row;    // four rows; the thread's next four are 4*LM further
    const int first_col = warp % (BN / WN) * WN + 4 * lane_col;    // four columns; the next four are 4*LN further
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    float c[TM][TN] = {}, a[2][TM], b[2][TN];
    const float* next_a = TRANSA ? A + block_row : A + (size_t)block_row * lda;
    const float* next_b = TRANSB ? B + (size_t)block_col * ldb : B + block_col;
    int left = K;
    unsigned into = shared_at;
    const auto fetch = [&] {               // the next step's tiles are under way from here on; zeros after the last
        copy_tile<BM, LDA, !TRANSA>(into, next_a, lda, M - block_row, left);
        copy_tile<BN, LDB, TRANSB>(into + 4 * BK * LDA, next_b, ldb, N - block_col, left);
        next_a += TRANSA ? (size_t)BK * lda : BK, next_b += TRANSB ? BK : (size_t)BK * ldb, left -= BK;
        into = into == shared_at + 4 * (STAGES - 1) * STAGE ? shared_at : into + 4 * STAGE;
        asm volatile("cp.async.commit_group;");
    };
    int stage = 0;                         // words to the stage that is used
    const auto load = [&](int k, int which) {                      // shared memory to registers
        const float* As = shared + first_row + stage;
        const float* Bs = shared + BK * LDA + first_col + stage;
#pragma unroll
        for (int i = 0; i < TM; i += 4)
            *reinterpret_cast<float4*>(&a[which][i]) = *reinterpret_cast<const float4*>(&As[k * LDA + i * LM]);
        for (int j = 0; j < TN; j += 4)
            *reinterpret_cast<float4*>(&b[which][j]) = *reinterpret_cast<const float4*>(&Bs[k * LDB + j * LN]);
    };
    const auto arrived = [] {              // the oldest stage is complete
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();                   // nobody reads before all copies are there, nor overwrites before all have read
    };

    for (int s = 1; s < STAGES; ++s) fetch();
    arrived();
    load(0, 0);
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {
                stage = stage == (STAGES - 1) * STAGE ? 0 : stage + STAGE;
                arrived();
            }
            load((k + 1) % BK, (k + 1) % 2);                       // while the products of this k go on
            if (k == 0) fetch();
#pragma unroll
            for (int i = 0; i < TM; ++i)                           // there and back again: neighbours in time share an operand
                for (int j = 0; j < TN; ++j) {
                    const int col = i % 2 ? TN - 1 - j : j;
                    c[i][col] += a[k % 2][i] * b[k % 2][col];
                }
        }

    const int rows = M - block_row - first_row, cols = N - block_col - first_col;      // inside, from the thread's first element on
    float* out = C + (size_t)(block_row + first_row) * ldc + block_col + first_col;
#pragma unroll
    for (int i = 0; i < TM; i += 4, out += (size_t)4 * LM * ldc) {
        float old[4][TN] = {};             // all of four rows are asked for before the first is used; beta 0: C is not read
#pragma unroll
        for (int store = 0; store < 2; ++store)
            for (int r = 0; r < 4; ++r)
                for (int j = 0; j < TN; j += WIDE) {
                    const int col = j / 4 * 4 * LN + j % 4;
                    if (i * LM + r >= rows || col >= cols) continue;
                    if (!store && beta != 0.0f) move<WIDE>(&old[r][j], &out[(size_t)r * ldc + col]);
                    for (int n = 0; n < WIDE && store; ++n) old[r][j + n] = alpha * c[i + r][j + n] + beta * old[r][j + n];
                    if (store) move<WIDE>(&out[(size_t)r * ldc + col], &old[r][j]);
                }
    }
}
