// bf16.cuh -- matrices of bfloat16 in shared memory, and the tensor cores' product of them
//
// Used by   sgemm_bf16.cu, sgemm_split.cu, sbgemm_mma.cu, sbgemm_stages.cu; compute capability 8.0 and up
#pragma once
// Where an element is in a tile with rows of WIDTH elements: pieces of 16 bytes change places, so that 8 rows of one column lie in 8
// different quarters of the banks (4 each); 128 bytes of neighbours still fill all 32.
template <int WIDTH>
__device__ __forceinline__ int place(int row, int col) {
    constexpr int PIECES = WIDTH / 8;
    const int change = PIECES >= 8 ? row % 8 : row / (8 / PIECES) % PIECES;
    return row * WIDTH + ((col / 8) ^ change) * 8 + col % 8;
}

// Two floats, rounded to the nearest bfloat16, side by side; the first has the lower address.
__device__ __forceinline__ unsigned bf16(float first, float second) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

// Four 8 x 8 matrices; the row at p of lane 8i + r is row r of matrix i. A lane gets two neighbours of row lane / 4 of each.
__device__ __forceinline__ void ldmatrix(unsigned (&x)[4], const unsigned short* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(p))) : "memory");
}

// The same, each matrix transposed: a lane gets two neighbours of column lane / 4.
__device__ __forceinline__ void ldmatrix_transposed(unsigned (&x)[4], const unsigned short* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(p))) : "memory");
}

// d += a b. With g = lane / 4 and t = lane % 4 a lane holds, as (row, column):
//   a  16 x 16  (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)   then the same with columns 2t + 8, 2t + 9
//   b  16 x 8   (2t, g)  (2t + 1, g)   (2t + 8, g)  (2t + 9, g)
//   d  16 x 8   (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)
__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
