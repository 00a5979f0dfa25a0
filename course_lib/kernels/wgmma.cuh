// wgmma.cuh -- products of a warpgroup: four warps multiply 64 rows of A by up to 256 columns of B, both in shared memory
//
// Used by   sbgemm_tma.cu and the kernels after it; sm_90a
#pragma once
// Where a tile lies whose rows have 128 bytes, with their pieces of 16 bytes exchanged as the tensor map says. Of B, with rows along N:
// `leading` bytes are from 64 columns to the next 64. Above bit 18 of an address stands which block of a cluster it belongs to.
__device__ __forceinline__ u64 tile_of_rows(unsigned at, int leading = 0) {
    return (at & 0x3ffff) >> 4 | u64(leading >> 4) << 16 | u64(8 * 128 >> 4) << 32 | 1ull << 62;
}

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT>
__device__ __forceinline__ void products_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }

#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SUMS8(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])
#define SUMS64(i) SUMS8(i), SUMS8(i + 8), SUMS8(i + 16), SUMS8(i + 24), SUMS8(i + 32), SUMS8(i + 40), SUMS8(i + 48), SUMS8(i + 56)

// c += a @ b: 64 x 16 of A, whose rows lie along K, by 16 x 256 of B, whose rows lie along N. It only begins here.
__device__ __forceinline__ void multiply(float (&c)[128], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127}, "
                 "%128, %129, 1, 1, 1, 0, 1;" : SUMS64(0), SUMS64(64) : "l"(a), "l"(b));
}

// The same with 128 columns of B.
__device__ __forceinline__ void multiply(float (&c)[64], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63}, "
                 "%64, %65, 1, 1, 1, 0, 1;" : SUMS64(0) : "l"(a), "l"(b));
}
