// dmma.cuh -- tiles of doubles in shared memory, and the tensor cores' product of them
//
// Used by   dgemm_mma.cu, dgemm_stages.cu, which say how `copy2` copies a pair; compute capability 9.0 and up
#pragma once
// Copy H x W doubles to a tile with LD doubles a row. p: the first of them; `rows` x `cols` of them are inside.
template <int H, int W, int LD>
__device__ __forceinline__ void copy_tile(double* tile, const double* p, int ld, int rows, int cols, bool wide) {
#pragma unroll
    for (int n = 0; n < H * W / 2; n += THREADS) {
        const int v = n + threadIdx.x, i = v / (W / 2), j = v % (W / 2) * 2;
        copy2(&tile[i * LD + j], &p[(size_t)i * ld + j], i < rows ? max(0, min(cols - j, 2)) : 0, wide);
    }
}

__device__ __forceinline__ bool aligned16(const double* matrix, int ld) {
    return reinterpret_cast<size_t>(matrix) % 16 == 0 && ld % 2 == 0;
}

// d += a b. With g = lane / 4 and t = lane % 4 a lane holds, as (row, column):
//   a  16 x 8   (g, t)   (g + 8, t)    (g, t + 4)   (g + 8, t + 4)
//   b   8 x 8   (t, g)   (t + 4, g)
//   d  16 x 8   (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)
__device__ __forceinline__ void mma(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
