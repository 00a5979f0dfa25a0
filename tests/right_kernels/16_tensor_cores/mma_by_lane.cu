// mma_by_lane.cu -- another right solution: 64 × 32 tiles, the instruction itself, and each lane knows what it holds
//
// Part             main
#include <cuda_bf16.h>
#define BM 64
#define BN 32
#define BK 32
#define THREADS (32 * (BM / 16) * (BN / 16))
static __device__ unsigned pair(__nv_bfloat16 first, __nv_bfloat16 second) {
    return __bfloat16_as_ushort(first) | static_cast<unsigned>(__bfloat16_as_ushort(second)) << 16;
}

extern "C" __global__ void __launch_bounds__(THREADS)
tensor(int M, int N, int K, float alpha, const float* A, int lda,
       const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __nv_bfloat16 As[BM][BK + 2], Bs[BN][BK + 2];      // Bs[column][k]
    const int th = threadIdx.x, warp = th / 32, g = th % 32 / 4, t = th % 4;
    const int top = blockIdx.y * BM, left = blockIdx.x * BN, row0 = warp % (BM / 16) * 16 + g, col0 = warp / (BM / 16) * 16;
    float acc[2][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = th; n < (BM + BN) * BK; n += THREADS) {
            const int i = n / BK, k = n % BK, kk = k0 + k;
            if (i < BM)
                As[i][k] = __float2bfloat16(top + i < M && kk < K ? A[(top + i) * lda + kk] : 0.0f);
            else
                Bs[i - BM][k] = __float2bfloat16(left + i - BM < N && kk < K ? B[kk * ldb + left + i - BM] : 0.0f);
        }
        __syncthreads();
        for (int k = 2 * t; k < BK; k += 16) {
            unsigned a[4], b[2];
            for (int e = 0; e < 4; ++e)
                a[e] = pair(As[row0 + e % 2 * 8][k + e / 2 * 8], As[row0 + e % 2 * 8][k + e / 2 * 8 + 1]);
            for (int j = 0; j < 2; ++j) {
                for (int e = 0; e < 2; ++e)
                    b[e] = pair(Bs[col0 + 8 * j + g][k + e * 8], Bs[col0 + 8 * j + g][k + e * 8 + 1]);
                asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }
        }
        __syncthreads();
    }
    for (int s = 0; s < 8; ++s) {
        const int row = top + row0 + s / 2 % 2 * 8, col = left + col0 + s / 4 * 8 + 2 * t + s % 2;
        if (row < M && col < N)
            C[row * ldc + col] = alpha * acc[s / 4][s % 4] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
    }
}
