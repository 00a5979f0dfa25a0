// at_turned.cu -- another right solution: stores the tile of A turned, and reads it in fours
//
// Part             main-b
#define BM 16
#define BN 32
#define BK 32
extern "C" __global__ void
unrolled_at(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BM][BK + 4];
    __shared__ float Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * BN + tx;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int e = 0; e < BM * BK; e += BM * BN) {
            const int m = (e + t) % BM, k = (e + t) / BM;
            As[m][k] = row0 + m < M && k0 + k < K ? A[(k0 + k) * lda + row0 + m] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < BK; k += BM)
            Bs[k + ty][tx] = k0 + k + ty < K && col < N ? B[(k0 + k + ty) * ldb + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k)
            acc = fmaf(As[ty][k], Bs[k][tx], acc);
        __syncthreads();
    }
    if (row0 + ty < M && col < N) {
        const int at = (row0 + ty) * ldc + col;
        C[at] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[at];
    }
}
