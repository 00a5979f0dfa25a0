// outputs_one_after_another.cu -- right, but goes along K anew for each output
//
// Part             outputs
// Must fail for    gate: at most 2.4000 passes
#define BM 64
#define BN 16
#define BK 16
#define TM 4
extern "C" __global__ void
outputs(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;          // BN x BM / TM threads
    const int row0 = blockIdx.y * BM + ty;                 // the thread's rows lie BM / TM apart
    const int col = blockIdx.x * BN + tx;
    for (int one = 0; one < TM; ++one) {
    const int row = row0 + one * (BM / TM);
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        for (int i = 0; i < BK; i += BM / TM)
            Bs[i + ty][tx] = k0 + i + ty < K && col < N ? B[(k0 + i + ty) * ldb + col] : 0.0f;
        __syncthreads();                                   // nobody reads before both tiles are complete
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][tx];                     // once for TM multiply-adds
            acc += As[ty][k] * b;
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
    if (row < M && col < N) {
            float* c = &C[row * ldc + col];
            *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
    }
}
