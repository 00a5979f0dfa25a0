// straight_from_global.cu -- has no shared memory: each warp loads its operands itself
//
// Part             main
// Must fail for    gate: global sectors loaded
#define BM 64
#define BN 64
#define BK 32

// Two floats, rounded to the nearest bfloat16, side by side; the first has the lower address.
__device__ unsigned bf16(float first, float second) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

// Load four neighbours of a row; zeros where it ends, after `left` elements.
__device__ float4 load4(const float* p, int left) {
    if (left >= 4 && reinterpret_cast<unsigned long long>(p) % 16 == 0) return *reinterpret_cast<const float4*>(p);
    return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f);
}

// Load four 8 x 8 matrices of bfloat16; the row at p of lane 8i + r is row r of matrix i. A lane gets two neighbours of row lane / 4 of each,
// or, transposed, two neighbours of column lane / 4. p must be a multiple of 16 bytes.
__device__ void ldmatrix(unsigned (&x)[4], const unsigned short* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(p))) : "memory");
}
__device__ void ldmatrix_transposed(unsigned (&x)[4], const unsigned short* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(p))) : "memory");
}

// d += a b. With g = lane / 4 and t = lane % 4 a lane holds, as (row, column):
//   a  16 x 16  (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)   then the same with columns 2t + 8, 2t + 9
//   b  16 x 8   (2t, g)  (2t + 1, g)   (2t + 8, g)  (2t + 9, g)
//   d  16 x 8   (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)
__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void
rounded(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    const int thread = threadIdx.x, lane = thread % 32, g = lane / 4, t = lane % 4;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;                              // of the block's tile of C
    const int warp_row = thread / 64 * 32, warp_col = thread / 32 % 2 * 32;                // of the warp's 32 x 32, in it
    float sum[2][4][4] = {};
    const auto a_at = [&](int row, int k) { return row < M && k < K ? A[row * lda + k] : 0.0f; };
    const auto b_at = [&](int k, int col) { return k < K && col < N ? B[k * ldb + col] : 0.0f; };
    for (int k = 0; k < K; k += 16) {
        unsigned a[2][4];
        for (int i = 0; i < 2; ++i)
            for (int e = 0; e < 4; ++e) {
                const int row = row0 + warp_row + 16 * i + g + e % 2 * 8, at = k + 2 * t + e / 2 * 8;
                a[i][e] = bf16(a_at(row, at), a_at(row, at + 1));
            }
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + warp_col + 8 * j + g, at = k + 2 * t;
            for (int i = 0; i < 2; ++i) mma(sum[i][j], a[i], bf16(b_at(at, col), b_at(at + 1, col)), bf16(b_at(at + 8, col), b_at(at + 9, col)));
        }
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = row0 + warp_row + 16 * i + g + e / 2 * 8, col = col0 + warp_col + 8 * j + 2 * t + e % 2;
                if (row < M && col < N) {
                    float* c = &C[row * ldc + col];
                    *c = alpha * sum[i][j][e] + (beta == 0.0f ? 0.0f : beta * *c);
                }
            }
}
