// two_roles.cuh -- what lesson 18's producer and consumer call: the barriers of each stage, a step's copies, its products, and the stores of C
//
// Used by   notebooks/18_roles.ipynb; the kernel that includes it defines STAGES; sm_90a
// Maps      of A and B: boxes of 64 x 64, with a swizzle of 128 bytes
// Shared    BYTES per stage, dynamic, from a multiple of 1024 on
#pragma once
#include "tma.cuh"
#include "wgmma.cuh"
#define BM 64                                  // a block computes BM x BN elements of C, in steps of BK along K
#define BN 128
#define BK 64
#define A_BYTES (2 * BM * BK)                  // two bytes for each bfloat16
#define BYTES (A_BYTES + 2 * BK * BN)          // of a stage

extern __shared__ __align__(1024) unsigned char tiles[];
__shared__ u64 full_barriers[STAGES], empty_barriers[STAGES];

__device__ __forceinline__ unsigned full(int stage) { return shared_address(&full_barriers[stage]); }
__device__ __forceinline__ unsigned empty(int stage) { return shared_address(&empty_barriers[stage]); }
__device__ __forceinline__ unsigned tile_of_A(int stage) { return shared_address(tiles) + stage * BYTES; }
__device__ __forceinline__ unsigned tile_of_B(int stage) { return tile_of_A(stage) + A_BYTES; }

// All barriers expect one arrival per phase.
__device__ __forceinline__ void make_barriers() {
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) barrier_init(full(stage), 1), barrier_init(empty(stage), 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");     // the copies see the barriers
    }
    __syncthreads();                           // and so do all threads
}

// Order the boxes of a step into a stage; full(stage) counts their bytes as they come.
__device__ __forceinline__ void fetch(int stage, int step, const TensorMap& A, const TensorMap& B) {
    load_box(tile_of_A(stage), A, step * BK, blockIdx.y * BM, full(stage));
    for (int j = 0; j < BN; j += 64) load_box(tile_of_B(stage) + 2 * BK * j, B, blockIdx.x * BN + j, step * BK, full(stage));
}

// Begin the products of what lies in a stage, as one group.
__device__ __forceinline__ void multiply_stage(int stage, float (&c)[BN / 2]) {
    products_begin();
#pragma unroll
    for (int k = 0; k < BK; k += 16)           // 2 bytes per column of A, 128 per row of B, and 2 * BK * 64 from 64 columns of B to the next
        multiply(c, tile_of_rows(tile_of_A(stage) + 2 * k), tile_of_rows(tile_of_B(stage) + 128 * k, 2 * BK * 64));
    products_commit();
}

// Store the consumer's elements of C. Of every 8 columns a thread has two neighbours, in one row and in the one 8 below.
__device__ __forceinline__ void store(float* C, int ldc, const float (&c)[BN / 2]) {
    const int row = blockIdx.y * BM + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = blockIdx.x * BN + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) C[(row + i / 2 % 2 * 8) * ldc + col + i / 4 * 8 + i % 2] = c[i];
}
