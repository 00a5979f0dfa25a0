// sbgemm_no_producer.cu -- sbgemm_tma.cu without its roles: a thread of the first warpgroup orders the copies between its own products
//
// Computes  what sbgemm_tma.cu does, with the same tiles, copies, barriers and products
// Idea      shows what a warp that only fetches brings: `record roles` measures both in turns. Block 256 instead of 384, no setmaxnreg,
//           since without producers a thread has up to 255 registers anyway; and the thread that fetches waits for the other warpgroup
#ifndef BN            // the launcher passes all three with -D, or none
#define BN 256
#define STAGES 4
#define GROUP 4       // rows of tiles that are computed together, column by column: so their A and B stay in the L2
#endif
#ifndef AHEAD
#define AHEAD (STAGES - 1)            // steps from the one whose products have begun to the one whose copies are ordered
#endif
#define BM 128        // 64 rows for each of the consumers
#define BK 64         // 128 bytes: a row of a box
#define CONSUMERS 2
#define A_BYTES (2 * BM * BK)
#define B_BYTES (2 * BK * BN)
static_assert(BN == 128 || BN == 256, "a warpgroup multiplies 64 rows by 128 or 256 columns");
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(STAGES * (A_BYTES + B_BYTES) <= 226 * 1024, "a block can ask for 227 KiB of shared memory, and its barriers need some");

#include "bands.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

extern "C" __global__ void __launch_bounds__(128 * CONSUMERS, 1)
sbgemm_no_producer(int M, int N, int K, float alpha, const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
           float beta, float* __restrict__ C, int ldc) {
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
        for (int step = 0; step < AHEAD; ++step) fetch();
    __syncwarp();

    int stage = 0, phase = 0;
    {
        for (int n = blockIdx.x; n < rows * cols; n += gridDim.x) {
            const Tile tile = tile_of(n, rows, cols);
            float c[BN / 2] = {};              // of the warpgroup's 64 x BN
            for (int k = 0, before = 0; k < steps; ++k) {
                barrier_wait(filled + 8 * stage, phase);
                const unsigned As = first + stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES;
                products_begin();
#pragma unroll
                for (int i = 0; i < BK; i += 16)                 // A's rows lie along K, B's along N
                    multiply(c, tile_of_rows(As + group * 64 * 128 + 2 * i), tile_of_rows(Bs + i * 128, 64 * 128));
                products_commit();
                products_wait<1>();            // those of the step before have ended
                if (t == 0 && k > 0) barrier_arrive(used + 8 * before);
                if (threadIdx.x == 0) fetch();
                __syncwarp();                  // the next products are of whole warps
                before = stage;
                if (++stage == STAGES) stage = 0, phase ^= 1;
            }
            products_wait<0>();
            if (t == 0) barrier_arrive(used + 8 * ((stage + STAGES - 1) % STAGES));

            // Thread t has two neighbours of every 8 columns, in row t / 32 * 16 + t % 32 / 4 and in the one 8 below.
            const int row = tile.row * BM + group * 64 + t / 32 * 16 + t % 32 / 4, col = tile.col * BN + t % 4 * 2;
#pragma unroll
            for (int i = 0; i < BN / 2; i += 2) {
                const int r = row + i / 2 % 2 * 8, q = col + i / 4 * 8;
                if (r < M && q < N) put(C + (size_t)r * ldc + q, alpha * c[i], alpha * c[i + 1], beta, q + 1 < N);
            }
        }
    }
}
