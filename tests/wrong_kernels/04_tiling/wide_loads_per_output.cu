// wide_loads_per_output.cu -- right, but the tiles are loaded again for each of a thread's outputs
//
// Part             wide
// Must fail for    gate: 0.0156
#define BM 64
#define BN 64
#define BK 16
#define BX 16
#define BY 16
extern "C" __global__ void
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BY][BK], Bs[BK][BX];
    const int tx = threadIdx.x, ty = threadIdx.y;
    for (int i = 0; i < BM; i += BY)
        for (int j = 0; j < BN; j += BX) {
            const int row = blockIdx.y * BM + i + ty, col = blockIdx.x * BN + j + tx;
            float acc = 0.0f;
            for (int k0 = 0; k0 < K; k0 += BK) {
                As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
                Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
                __syncthreads();
                for (int k = 0; k < BK; ++k)
                    acc += As[ty][k] * Bs[k][tx];
                __syncthreads();
            }
            if (row < M && col < N)
                C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
        }
}
