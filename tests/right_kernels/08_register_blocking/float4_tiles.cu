// float4_tiles.cu -- another right solution: 64 × 64 tiles of float4, four quarters of 4 × 4 a thread, loads of the tiles by thread number
//
// Part             wide
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
static __device__ float at(const float4& v, int n) { return n == 0 ? v.x : n == 1 ? v.y : n == 2 ? v.z : v.w; }

extern "C" __global__ void __launch_bounds__(64)
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 As[BK][BM / 4 + 1], Bs[BK][BN / 4];
    const int t = threadIdx.y * 8 + threadIdx.x, top = blockIdx.y * BM, left = blockIdx.x * BN;
    float* const as = reinterpret_cast<float*>(As);
    float* const bs = reinterpret_cast<float*>(Bs);
    float acc[2][2][4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int e = 0; e < BM * BK; e += 64) {
            const int m = (e + t) / BK, k = t % BK;
            as[k * (BM + 4) + m] = top + m < M && k0 + k < K ? A[(top + m) * lda + k0 + k] : 0.0f;
            bs[e + t] = k0 + e / BN < K && left + t < N ? B[(k0 + e / BN) * ldb + left + t] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 a[2] = {As[k][threadIdx.y], As[k][threadIdx.y + 8]}, b[2] = {Bs[k][threadIdx.x], Bs[k][threadIdx.x + 8]};
#pragma unroll
            for (int s = 0; s < 64; ++s)
                acc[s / 32][s / 16 % 2][s / 4 % 4][s % 4] += at(a[s / 32], s / 4 % 4) * at(b[s / 16 % 2], s % 4);
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < 64; ++s) {
        const int row = top + s / 32 * 32 + threadIdx.y * 4 + s / 4 % 4, col = left + s / 16 % 2 * 32 + threadIdx.x * 4 + s % 4;
        if (row < M && col < N)
            C[row * ldc + col] = alpha * acc[s / 32][s / 16 % 2][s / 4 % 4][s % 4] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
    }
}
