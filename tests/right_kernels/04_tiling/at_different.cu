// at_different.cu -- another right solution of variant b: tiles of another shape, loaded by thread number, guards outside the expression
//
// Part             tile-b
#define BM 8
#define BN 32
#define BK 24

extern "C" __global__ void
tiled_at(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float tile[BK * (BM + BN)];     // a row of it: BM elements of A, then BN of B
    const int t = threadIdx.y * BN + threadIdx.x;
    const int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
    double sum = 0.0;
    for (int start = 0; start < K; start += BK) {
        for (int e = t; e < BK * BM; e += BM * BN) {
            const int k = start + e / BM, i = first_row + e % BM;
            float a = 0.0f;
            if (k < K && i < M) a = A[k * lda + i];
            tile[e / BM * (BM + BN) + e % BM] = a;
        }
        for (int e = t; e < BK * BN; e += BM * BN) {
            const int k = start + e / BN, j = first_col + e % BN;
            float b = 0.0f;
            if (k < K && j < N) b = B[k * ldb + j];
            tile[e / BN * (BM + BN) + BM + e % BN] = b;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            sum += (double)tile[k * (BM + BN) + threadIdx.y] * tile[k * (BM + BN) + BM + threadIdx.x];
        __syncthreads();
    }
    const int i = first_row + threadIdx.y, j = first_col + threadIdx.x;
    if (i >= M || j >= N) return;
    float result = alpha * (float)sum;
    if (beta != 0.0f) result += beta * C[i * ldc + j];
    C[i * ldc + j] = result;
}
