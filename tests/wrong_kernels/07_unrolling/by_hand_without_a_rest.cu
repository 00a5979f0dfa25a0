// by_hand_without_a_rest.cu -- four steps a turn by hand, and no rest
//
// Part             main
// Must fail for    wrong: 
#define BM 16       // BM = BN = BK: each thread stages one element of either tile
#define BN 16
#define BK 16
extern "C" __global__ void
unrolled(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;      // of C
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete
        for (int k = 0; k + 3 < BK && k0 + k + 3 < K; k += 4) {
            acc += As[ty][k] * Bs[k][tx];
            acc += As[ty][k + 1] * Bs[k + 1][tx];
            acc += As[ty][k + 2] * Bs[k + 2][tx];
            acc += As[ty][k + 3] * Bs[k + 3][tx];
        }
        __syncthreads();                       // nobody overwrites before all have read
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
