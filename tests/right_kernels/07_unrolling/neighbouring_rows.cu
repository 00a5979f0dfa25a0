// neighbouring_rows.cu -- another right solution: eight neighbouring rows a thread, A's tile stored turned and read as float4
//
// Part             outputs
#define BM 64
#define BN 32
#define BK 16
#define TM 8
extern "C" __global__ void
outputs(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK][BM + 4];
    __shared__ float Bs[BK][BN];
    constexpr int THREADS = BN * BM / TM;
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * BN + tx;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * BN + tx;
    float acc[TM] = {};
    const int m = t / BK, depth = t % BK;
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / BK)
            As[depth][i + m] = row0 + i + m < M && k0 + depth < K ? A[(row0 + i + m) * lda + k0 + depth] : 0.0f;
#pragma unroll
        for (int k = 0; k < BK; k += BM / TM)
            Bs[k + ty][tx] = k0 + k + ty < K && col < N ? B[(k0 + k + ty) * ldb + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][tx];
#pragma unroll
            for (int i = 0; i < TM; i += 4) {
                const float4 a = *reinterpret_cast<const float4*>(&As[k][ty * TM + i]);
                acc[i] += a.x * b;
                acc[i + 1] += a.y * b;
                acc[i + 2] += a.z * b;
                acc[i + 3] += a.w * b;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + ty * TM + i;
        if (row < M && col < N)
            C[row * ldc + col] = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * C[row * ldc + col];
    }
}
