// second_barrier_missing_right_result.cu -- one warp loads for all and overwrites the tiles while others may still read; the numbers are right
//
// Part             tile
// Must fail for    hazard: no __syncthreads() stands between line 24 and line 19 of the next round
#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
tiled(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (ty >= BM - 2)                      // the last warp; the others are usually ahead of it
            for (int i = ty - (BM - 2); i < BM; i += 2) {
                As[i][tx] = blockIdx.y * BM + i < M && k0 + tx < K ? A[(blockIdx.y * BM + i) * lda + k0 + tx] : 0.0f;
                Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * ldb + col] : 0.0f;
            }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[k][tx];
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
