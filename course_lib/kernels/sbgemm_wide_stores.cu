// sbgemm_wide_stores.cu -- no producer: a thread that multiplies orders the copies; and C leaves 16 bytes at a time
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; A and B bfloat16 (16 bits), C, alpha, beta and sums float32
// Idea      sbgemm_tma.cu with two changes: thread 0 orders the copies between its own products, and lanes exchange sums before they store them
// Launch    any grid (blocks), each takes every gridDim.x-th tile of C; block 256: two warpgroups
// Shared    2 * BK * (BM + BN) * STAGES bytes per block, dynamic, from a multiple of 1024 on
// Maps      A: boxes of BM x 64, B: boxes of 64 x 64; both with a swizzle of 128 bytes
// Strides   ldc: elements from one row of C to the next, even; those of A and B are in their maps, multiples of 8
// Edges     any M, N, K below 2^31 elements a matrix; compile for sm_90a
// Lesson    notebooks/18_roles.ipynb      Next  none yet
#ifndef BN            // the launcher passes all three with -D, or none
#define BN 256
#define STAGES 4
#define GROUP 16      // rows of tiles that are computed together, column by column: so their A and B stay in the L2
#endif
#define BM 128        // 64 rows for each of the warpgroups
#define BK 64         // 128 bytes: a row of a box
#define WARPGROUPS 2
#define A_BYTES (2 * BM * BK)
#define B_BYTES (2 * BK * BN)
static_assert(BN == 128 || BN == 256, "a warpgroup multiplies 64 rows by 128 or 256 columns");
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(STAGES * (A_BYTES + B_BYTES) <= 226 * 1024, "a block can ask for 227 KiB of shared memory, and its barriers need some");

#include "fours.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS, 1)
sbgemm_wide_stores(int M, int N, int K, float alpha, const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   float beta, float* __restrict__ C, int ldc) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ u64 full[STAGES], empty[STAGES];                 // barriers: a stage has come; it has been used by both
    const unsigned filled = shared_address(full), used = shared_address(empty), first = shared_address(tiles);
    const int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    const bool aligned = (reinterpret_cast<size_t>(C) | ldc * sizeof(float)) % 16 == 0;           // so is every fourth element of a row
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(filled + 8 * s, 1), barrier_init(used + 8 * s, WARPGROUPS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");        // the copies see them
    }
    __syncthreads();                           // and so do all threads

    int next = blockIdx.x, next_k = 0, next_stage = 0, next_phase = 0;            // the tile, step and stage that are fetched next
    Tile box = tile_of(next, rows, cols);
    const auto fetch = [&] {
        if (next >= rows * cols) return;
        barrier_wait(used + 8 * next_stage, next_phase ^ 1);    // both have used it; at first nobody has: phase "before 0" is over
        const unsigned As = first + next_stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES, barrier = filled + 8 * next_stage;
        barrier_expect(barrier, A_BYTES + B_BYTES);
        load_box(As, A, next_k * BK, box.row * BM, barrier);
        for (int j = 0; j < BN; j += 64) load_box(Bs + j * 128, B, box.col * BN + j, next_k * BK, barrier);
        if (++next_stage == STAGES) next_stage = 0, next_phase ^= 1;
        if (++next_k == steps) next_k = 0, next += gridDim.x, box = tile_of(next, rows, cols);
    };
    if (threadIdx.x == 0)
        for (int step = 1; step < STAGES; ++step) fetch();      // one stage stays free: it is filled while the first is used
    __syncwarp();                              // the first products are of whole warps

    int stage = 0, phase = 0;
    for (int n = blockIdx.x; n < rows * cols; n += gridDim.x) {
        const Tile tile = tile_of(n, rows, cols);
        float c[BN / 2] = {};                  // of the warpgroup's 64 x BN
        for (int k = 0, before = 0; k < steps; ++k) {
            barrier_wait(filled + 8 * stage, phase);
            const unsigned As = first + stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES;
            products_begin();
#pragma unroll
            for (int i = 0; i < BK; i += 16)   // A's rows lie along K, B's along N
                multiply(c, tile_of_rows(As + group * 64 * 128 + 2 * i), tile_of_rows(Bs + i * 128, 64 * 128));
            products_commit();
            products_wait<1>();                // those of the step before have ended
            if (t == 0 && k > 0) barrier_arrive(used + 8 * before);
            if (threadIdx.x == 0) fetch();
            __syncwarp();                      // the next products are of whole warps
            before = stage;
            if (++stage == STAGES) stage = 0, phase ^= 1;
        }
        products_wait<0>();
        if (t == 0) barrier_arrive(used + 8 * ((stage + STAGES - 1) % STAGES));

        // A lane has two neighbours of every 8 columns, in two rows. It exchanges two with the lane beside it, which has the two next to them.
        const int odd = t % 2, row = tile.row * BM + group * 64 + t / 32 * 16 + t % 32 / 4, col = tile.col * BN + odd * 8 + t % 4 / 2 * 4;
#pragma unroll
        for (int i = 0; i < BN / 2; i += 8)
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                const float4 four = exchange(alpha * c[i + j], alpha * c[i + j + 1], alpha * c[i + j + 4], alpha * c[i + j + 5], odd);
                const int r = row + j * 4, q = col + 2 * i;
                if (r < M && q < N) put(C + (size_t)r * ldc + q, four, beta, N - q, aligned);
            }
    }
}
