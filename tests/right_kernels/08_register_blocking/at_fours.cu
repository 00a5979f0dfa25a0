// at_fours.cu -- another right solution: neighbouring rows and columns in fours, read as float4
//
// Part             main-b
#define BM 32
#define BN 64
#define BK 32
#define TM 4
#define TN 4
extern "C" __global__ void
blocked_at(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 As[BK][BM / 4], Bs[BK][BN / 4];
    constexpr int THREADS = (BM / TM) * (BN / TN);
    const int t = threadIdx.x + threadIdx.y * (BN / TN), m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float4 r0 = {}, r1 = {}, r2 = {}, r3 = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BK * BM; e += THREADS)
            reinterpret_cast<float*>(As)[e] = k0 + e / BM < K && m0 + e % BM < M ? A[(k0 + e / BM) * lda + m0 + e % BM] : 0.0f;
        for (int e = t; e < BK * BN; e += THREADS)
            reinterpret_cast<float*>(Bs)[e] = k0 + e / BN < K && n0 + e % BN < N ? B[(k0 + e / BN) * ldb + n0 + e % BN] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float4 a = As[k][threadIdx.y], b = Bs[k][threadIdx.x];
            r0.x += a.x * b.x; r0.y += a.x * b.y; r0.z += a.x * b.z; r0.w += a.x * b.w;
            r1.x += a.y * b.x; r1.y += a.y * b.y; r1.z += a.y * b.z; r1.w += a.y * b.w;
            r2.x += a.z * b.x; r2.y += a.z * b.y; r2.z += a.z * b.z; r2.w += a.z * b.w;
            r3.x += a.w * b.x; r3.y += a.w * b.y; r3.z += a.w * b.z; r3.w += a.w * b.w;
        }
        __syncthreads();
    }
    const float sums[16] = {r0.x, r0.y, r0.z, r0.w, r1.x, r1.y, r1.z, r1.w, r2.x, r2.y, r2.z, r2.w, r3.x, r3.y, r3.z, r3.w};
#pragma unroll
    for (int s = 0; s < 16; ++s) {
        const int row = m0 + threadIdx.y * 4 + s / 4, col = n0 + threadIdx.x * 4 + s % 4;
        if (row < M && col < N) {
            float out = alpha * sums[s];
            if (beta != 0.0f) out += beta * C[row * ldc + col];
            C[row * ldc + col] = out;
        }
    }
}
