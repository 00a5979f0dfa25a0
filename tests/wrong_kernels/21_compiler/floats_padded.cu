// floats_padded.cu -- stores floats, in rows that are padded so that no conflict is left
//
// Part             main
// Must fail for    gate: wavefronts of shared memory
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
    __shared__ __align__(128) float As[BM][BK + 8], Bs[BK][BN + 4];
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = thread; n < BM * BK / 4; n += 128) {
            const int i = n / (BK / 4), k = n % (BK / 4) * 4;
            *reinterpret_cast<float4*>(&As[i][k]) = load4(&A[(row0 + i) * lda + k0 + k], row0 + i < M ? K - k0 - k : 0);
        }
        for (int n = thread; n < BK * BN / 4; n += 128) {
            const int k = n / (BN / 4), j = n % (BN / 4) * 4;
            *reinterpret_cast<float4*>(&Bs[k][j]) = load4(&B[(k0 + k) * ldb + col0 + j], k0 + k < K ? N - col0 - j : 0);
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        for (int k = 0; k < BK; k += 16) {
            unsigned a[2][4];
            for (int i = 0; i < 2; ++i)
                for (int e = 0; e < 4; ++e) {
                    const float* p = &As[warp_row + 16 * i + g + e % 2 * 8][k + 2 * t + e / 2 * 8];
                    a[i][e] = bf16(p[0], p[1]);
                }
            for (int j = 0; j < 4; ++j) {
                const float* p = &Bs[k + 2 * t][warp_col + 8 * j + g];
                for (int i = 0; i < 2; ++i) mma(sum[i][j], a[i], bf16(p[0], p[BN + 4]), bf16(p[8 * BN + 32], p[9 * BN + 36]));
            }
        }
        __syncthreads();                       // nobody overwrites before all have read
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
