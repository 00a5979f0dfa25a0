// b8gemm_clusters.cu -- FP8: A and B as E4M3, a byte for each number, so a tensor core multiplies twice as many at a time
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N]       A and B E4M3 (8 bits), A by rows and B by columns; C row-major bfloat16; alpha float32
// Idea      bgemm_clusters.cu with 128 numbers of K in the 128 bytes of a row; the tensor cores' sums keep 14 bits, not 24 (arXiv:2511.10909)
// Launch    any even grid (blocks), each pair takes every gridDim.x/2-th pair of tiles; block 384: two consumers and a producer, of four warps each
// Shared    BK * (BM + BN) * STAGES + 2 * BM * BN bytes per block, dynamic, from a multiple of 1024 on
// Maps      A: boxes of BM x 128, B: boxes of 64 columns x 128, C: boxes of 64 x 64; all with a swizzle of 128 bytes
// Edges     any M, N, K below 2^31 elements a matrix, strides are in the maps, multiples of 16 bytes; compile for sm_90a
// Lesson    none yet      Next  none yet
#ifndef BN            // the launcher passes all three with -D, or none
#define BN 256
#define STAGES 3
#define GROUP 4       // rows of pairs of tiles that are computed together, column by column: so their A and B stay in the L2
#endif
#define BM 128        // 64 rows for each of the consumers
#define BK 128        // bytes, and numbers: a row of a box
#define CONSUMERS 2
#define CLUSTER 2     // blocks
#define A_BYTES (BM * BK)
#define B_BYTES (BK * BN)
static_assert(BN == 128 || BN == 256, "a warpgroup multiplies 64 rows by 128 or 256 columns");
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(STAGES * (A_BYTES + B_BYTES) + 2 * BM * BN <= 226 * 1024, "a block can ask for 227 KiB of shared memory, and its barriers need some");

#include "bands.cuh"
#include "tma.cuh"
#include "wgmma.cuh"
#include "store_box.cuh"

// c += a @ b: 64 x 32 of A by 32 x 256 of B, the rows of both along K: for 8 bits there is no other way. It only begins here.
__device__ __forceinline__ void multiply8(float (&c)[128], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127}, "
                 "%128, %129, 1, 1, 1;" : SUMS64(0), SUMS64(64) : "l"(a), "l"(b));
}

// The same with 128 columns of B.
__device__ __forceinline__ void multiply8(float (&c)[64], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63}, "
                 "%64, %65, 1, 1, 1;" : SUMS64(0) : "l"(a), "l"(b));
}

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(128 * (CONSUMERS + 1), 1)
b8gemm_clusters(int M, int N, int K, float alpha, const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                const __grid_constant__ TensorMap C) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ u64 full[STAGES], empty[STAGES];                 // barriers: a stage has come; it has been used by all
    const unsigned filled = shared_address(full), used = shared_address(empty), first = shared_address(tiles);
    const int rank = blockIdx.x % CLUSTER, cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    const int rows = (M + CLUSTER * BM - 1) / (CLUSTER * BM), cols = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(filled + 8 * s, 1), barrier_init(used + 8 * s, CONSUMERS * CLUSTER);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");        // the copies and the other block see them
    }
    cluster_sync();                            // and so do all threads of both

    int stage = 0, phase = 0;                  // each role goes through the stages by itself
    if (group == CONSUMERS) {                  // the producer
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 0)
            for (int n = cluster; n < rows * cols; n += clusters) {
                const Tile tile = tile_of(n, rows, cols);
                for (int k = 0; k < steps; ++k) {
                    barrier_wait(used + 8 * stage, phase ^ 1);                    // by the consumers of both blocks
                    const unsigned As = first + stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES, barrier = filled + 8 * stage;
                    barrier_expect(barrier, A_BYTES + B_BYTES);
                    load_box(As, A, k * BK, (tile.row * CLUSTER + rank) * BM, barrier);
                    for (int j = rank * (BN / CLUSTER); j < (rank + 1) * (BN / CLUSTER); j += 64)
                        load_box_for_all(Bs + j * 128, B, k * BK, tile.col * BN + j, barrier, (1 << CLUSTER) - 1);
                    if (++stage == STAGES) stage = 0, phase ^= 1;
                }
            }
    } else {                                   // a consumer: rows 64 * group and on of a tile
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        for (int n = cluster; n < rows * cols; n += clusters) {
            const Tile tile = tile_of(n, rows, cols);
            float c[BN / 2] = {};              // of the warpgroup's 64 x BN
            for (int k = 0, before = 0; k < steps; ++k) {
                barrier_wait(filled + 8 * stage, phase);
                const unsigned As = first + stage * (A_BYTES + B_BYTES), Bs = As + A_BYTES;
                products_begin();
#pragma unroll
                for (int i = 0; i < BK; i += 32) multiply8(c, tile_of_rows(As + group * 64 * 128 + i), tile_of_rows(Bs + i));
                products_commit();
                products_wait<1>();            // those of the step before have ended
                if (t < CLUSTER && k > 0) barrier_arrive_at(used + 8 * before, t);            // here and in the other block
                before = stage;
                if (++stage == STAGES) stage = 0, phase ^= 1;
            }
            products_wait<0>();
            if (t < CLUSTER) barrier_arrive_at(used + 8 * ((stage + STAGES - 1) % STAGES), t);

            // Rounded, in bands of 64 columns, to where the tile before was; lane i of a warp gives the place of row i % 16 of two 8 x 8 matrices.
            const unsigned Cs = first + STAGES * (A_BYTES + B_BYTES) + group * 2 * 64 * BN, line = t / 32 * 16 + t % 16;
            if (t == 0) stores_read();         // that one has been copied from there
            warpgroup_sync(group);
#pragma unroll
            for (int j = 0; j < BN / 16; ++j) {
                unsigned pair[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) pair[i] = bf16(alpha * c[8 * j + 2 * i], alpha * c[8 * j + 2 * i + 1]);
                stmatrix(Cs + j / 4 * 64 * 128 + line * 128 + ((j % 4 * 2 + t % 32 / 16) ^ line % 8) * 16, pair);
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");         // the copy sees what this thread has stored
            warpgroup_sync(group);
            if (t == 0) {
                for (int j = 0; j < BN; j += 64) store_box(C, tile.col * BN + j, (tile.row * CLUSTER + rank) * BM + group * 64, Cs + j * 128);
                stores_commit();
            }
        }
        if (t == 0) stores_read();             // before the block's shared memory is given back
    }
    cluster_sync();                            // nobody leaves while the other block may still write here
}
