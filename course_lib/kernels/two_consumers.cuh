// two_consumers.cuh -- what exercise 18's producer and consumers call: the barriers of each stage, where its tiles lie, and a step's copies
//
// Used by   exercises/18_roles; the kernel that includes it defines STAGES; sm_90a
// Maps      of A and B: boxes of 64 x 64, with a swizzle of 128 bytes
// Shared    A_BYTES + B_BYTES per stage, dynamic, from a multiple of 1024 on
#pragma once
#include "tma.cuh"
#define CONSUMERS 2
#define BM 128                                 // a block computes BM x BN elements of C, each of its consumers 64 rows, in steps of BK along K
#define BN 256
#define BK 64
#define A_BYTES (2 * BM * BK)                  // two bytes for each bfloat16
#define B_BYTES (2 * BK * BN)

extern __shared__ __align__(1024) unsigned char tiles[];
__shared__ u64 full_barriers[STAGES], empty_barriers[STAGES];

__device__ __forceinline__ unsigned full(int stage) { return shared_address(&full_barriers[stage]); }
__device__ __forceinline__ unsigned empty(int stage) { return shared_address(&empty_barriers[stage]); }
__device__ __forceinline__ unsigned tile_of_A(int stage) { return shared_address(tiles) + stage * (A_BYTES + B_BYTES); }
__device__ __forceinline__ unsigned tile_of_B(int stage) { return tile_of_A(stage) + A_BYTES; }

// Order the boxes of a step into a stage, all BM rows of A and all BN columns of B; full(stage) counts their bytes as they come.
__device__ __forceinline__ void fetch(int stage, int step, const TensorMap& A, const TensorMap& B) {
    for (int i = 0; i < BM; i += 64) load_box(tile_of_A(stage) + 2 * BK * i, A, step * BK, blockIdx.y * BM + i, full(stage));
    for (int j = 0; j < BN; j += 64) load_box(tile_of_B(stage) + 2 * BK * j, B, blockIdx.x * BN + j, step * BK, full(stage));
}
