// two_outputs.cu -- right, but two outputs are too few
//
// Part             outputs
// Must fail for    gate: 2.7812
#define BM 32
#define BN 16
#define BK 16
#define TM 2
extern "C" __global__ void
outputs(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;          // BN x BM / TM threads
    const int row0 = blockIdx.y * BM + ty;                 // the thread's rows lie BM / TM apart
    const int col = blockIdx.x * BN + tx;
    float acc[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = 0; i < BM; i += BM / TM)
            As[i + ty][tx] = row0 + i < M && k0 + tx < K ? A[(row0 + i) * lda + k0 + tx] : 0.0f;
        for (int i = 0; i < BK; i += BM / TM)
            Bs[i + ty][tx] = k0 + i + ty < K && col < N ? B[(k0 + i + ty) * ldb + col] : 0.0f;
        __syncthreads();                                   // nobody reads before both tiles are complete
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][tx];                     // once for TM multiply-adds
            for (int i = 0; i < TM; ++i)
                acc[i] += As[i * (BM / TM) + ty][k] * b;
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
    for (int i = 0; i < TM; ++i)
        if (const int row = row0 + i * (BM / TM); row < M && col < N) {
            float* c = &C[row * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
