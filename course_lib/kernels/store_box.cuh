// store_box.cuh -- a tile of bfloat16 on its way out: rounded, to shared memory, and from there to global memory by a tensor map
//
// Used by   bgemm_clusters.cu and b8gemm_clusters.cu; sm_90a
#pragma once
// Wait for the threads of one's warpgroup.
__device__ __forceinline__ void warpgroup_sync(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

// Two floats, rounded to the nearest bfloat16, side by side; the first has the lower address.
__device__ __forceinline__ unsigned bf16(float first, float second) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

// Four 8 x 8 matrices of 16 bits: the row at `at` of lane 8i + r is row r of matrix i; a lane has two neighbours of row lane / 4 of each.
__device__ __forceinline__ void stmatrix(unsigned at, const unsigned (&x)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
}

// A box of shared memory to column x of row y of a matrix; what is outside of the matrix is left out. Nobody waits for it.
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
}

__device__ __forceinline__ void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }      // what they store may change
