// sgemm_parts.cu -- float32 on tensor cores: every number is the sum of three of bfloat16, and six of nine products matter
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32; A and B too, and as split_parts.cu has split and scaled them
// Idea      sbgemm_tma.cu, with six products a step; the smallest come first, and every step has sums of its own
// Launch    any grid (blocks), each takes every gridDim.x-th tile of C; block 384: two consumers and a producer, of four warps each
// Shared    6 * BK * (BM + BN) * STAGES bytes per block, dynamic, from a multiple of 1024 on
// Maps      A: boxes of 3 x BM x 64, B: boxes of 3 x 64 x 64; both with a swizzle of 128 bytes
// Strides   lda, ldb, ldc: elements from one row to the next, ldc even; those of the parts are in their maps, multiples of 8
// Edges     any M, N, K below 2^31 elements a matrix; rows of A and columns of B that are UNSPLIT cost float32's time; compile for sm_90a
// Lesson    notebooks/20_few_bits.ipynb      Next  none yet
#ifndef STAGES        // the launcher passes both with -D, or none
#define STAGES 2
#define GROUP 8       // rows of tiles that are computed together, column by column: so their A and B stay in the L2
#endif
#define BM 128        // 64 rows for each of the consumers
#define BN 128        // the sums of a step and those of all steps are in registers
#define BK 64         // 128 bytes: a row of a box
#define CONSUMERS 2
#define UNSPLIT (1 << 20)   // in the place of a shift: this row or column has not been split; the sum of two real shifts is far below
#define A_PART (2 * BM * BK)
#define B_PART (2 * BK * 64)
#define A_BYTES (3 * A_PART)
#define B_BYTES (3 * BN / 64 * B_PART)
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(STAGES * (A_BYTES + B_BYTES) <= 226 * 1024, "a block can ask for 227 KiB of shared memory, and its barriers need some");

#include "bands.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

__device__ __forceinline__ float power(int e) { return __int_as_float((e + 127) << 23); }         // of 2, from -126 to 127

// x * 2^e, for e from -252 to 254, rounded once: what the first step makes a denormal, the second makes 0.
__device__ __forceinline__ float moved(float x, int e) {
    const int last = min(max(e, -126), 127);
    return x * power(e - last) * power(last);
}

extern "C" __global__ void __launch_bounds__(128 * (CONSUMERS + 1), 1)
sgemm_parts(int M, int N, int K, float alpha, const __grid_constant__ TensorMap A_parts, const __grid_constant__ TensorMap B_parts,
            float beta, float* __restrict__ C, int ldc, const int* __restrict__ A_shifts, const int* __restrict__ B_shifts,
            const float* __restrict__ A, int lda, const float* __restrict__ B, int ldb) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ u64 full[STAGES], empty[STAGES];                 // barriers: a stage has come; it has been used by all
    const unsigned filled = shared_address(full), used = shared_address(empty), first = shared_address(tiles);
    const int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(filled + 8 * s, 1), barrier_init(used + 8 * s, CONSUMERS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");        // the copies see them
    }
    __syncthreads();                           // and so do all threads

    int stage = 0, phase = 0;                  // each role goes through the stages by itself
    if (group == CONSUMERS) {                  // the producer
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 0)
            for (int n = blockIdx.x; n < rows * cols; n += gridDim.x) {
                const Tile tile = tile_of(n, rows, cols);
                for (int k = 0; k < steps; ++k) {
                    barrier_wait(used + 8 * stage, phase ^ 1);                    // at first nobody has used it: phase "before 0" is over
                    const unsigned As = first + stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES, barrier = filled + 8 * stage;
                    barrier_expect(barrier, A_BYTES + B_BYTES);
                    load_parts(As, A_parts, k * BK, tile.row * BM, barrier);
                    for (int j = 0; j < BN / 64; ++j) load_parts(Bs + j * 3 * B_PART, B_parts, tile.col * BN + 64 * j, k * BK, barrier);
                    if (++stage == STAGES) stage = 0, phase ^= 1;
                }
            }
    } else {                                   // a consumer: rows 64 * group and on of a tile
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        for (int n = blockIdx.x; n < rows * cols; n += gridDim.x) {
            const Tile tile = tile_of(n, rows, cols);
            float c[BN / 2] = {};              // of the warpgroup's 64 x BN
            for (int k = 0; k < steps; ++k) {
                barrier_wait(filled + 8 * stage, phase);
                const unsigned As = first + stage * (A_BYTES + B_BYTES) + group * 64 * 128, Bs = first + stage * (A_BYTES + B_BYTES) + A_BYTES;
                float d[BN / 2] = {};          // of this step: a tensor core cuts off what is small beside its sums, so they must not grow
                products_begin();
#pragma unroll
                for (int n = 0; n < 6; ++n) {
                    const int i = "201100"[n] - '0', j = "021010"[n] - '0';         // part i of A by part j of B, the smallest first
#pragma unroll
                    for (int q = 0; q < BK; q += 16)
                        multiply(d, tile_of_rows(As + i * A_PART + 2 * q), tile_of_rows(Bs + j * B_PART + q * 128, 3 * B_PART));
                }
                products_commit();
                products_wait<0>();            // the other consumer's go on meanwhile
                if (t == 0) barrier_arrive(used + 8 * stage);
#pragma unroll
                for (int i = 0; i < BN / 2; ++i) c[i] += d[i];
                if (++stage == STAGES) stage = 0, phase ^= 1;
            }

            // Thread t has two neighbours of every 8 columns, in row t / 32 * 16 + t % 32 / 4 and in the one 8 below.
            const int row = tile.row * BM + group * 64 + t / 32 * 16 + t % 32 / 4, col = tile.col * BN + t % 4 * 2;
            const int shifts[2] = {A_shifts[min(row, M - 1)], A_shifts[min(row + 8, M - 1)]};
            int columns[BN / 4];              // fetched all at once
#pragma unroll
            for (int i = 0; i < BN / 4; ++i) columns[i] = B_shifts[min(col + i / 2 * 8 + i % 2, N - 1)];
            bool left = false;                 // is there an element whose row was not split, or its column or that of its neighbour?
#pragma unroll
            for (int i = 0; i < BN / 2; i += 2) {
                const int r = row + i / 2 % 2 * 8, q = col + i / 4 * 8;
                if (r >= M || q >= N) continue;
                const int x = shifts[i / 2 % 2] + columns[i / 4 * 2], y = shifts[i / 2 % 2] + columns[i / 4 * 2 + 1];
                if (max(x, y) >= UNSPLIT / 2) left = true;
                else put(C + (size_t)r * ldc + q, alpha * moved(c[i], -x), alpha * moved(c[i + 1], -y), beta, q + 1 < N);
            }
#pragma unroll 1
            for (int i = 0; left && i < BN / 2; ++i) {           // those as SGEMM computes them
                const int r = row + i / 2 % 2 * 8, q = col + i / 4 * 8 + i % 2, neighbour = min(q ^ 1, N - 1);
                if (r >= M || q >= N || A_shifts[r] + max(B_shifts[q], B_shifts[neighbour]) < UNSPLIT / 2) continue;
                float sum = 0;
                for (int k = 0; k < K; ++k) sum = fmaf(A[(size_t)r * lda + k], B[(size_t)k * ldb + q], sum);
                put(C + (size_t)r * ldc + q, alpha * sum, 0, beta, false);
            }
        }
    }
}
