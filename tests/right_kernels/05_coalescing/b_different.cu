// b_different.cu -- another right solution of the variant: threads compute transposed, the result is turned in shared memory before it is stored
//
// Part             main-b
#define BM 16
#define BN 16
#define BK 32
extern "C" __global__ void
transposed_b(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BK][BM + 1], Bs[BK][BN + 1], Cs[BM][BN + 1];
    const int x = threadIdx.x, y = threadIdx.y, t = y * BN + x;
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BM * BK; e += BM * BN) {
            const int k = e % BK, i = e / BK;
            As[k][i] = top + i < M && k0 + k < K ? A[(top + i) * lda + k0 + k] : 0.0f;
            Bs[k][i] = left + i < N && k0 + k < K ? B[(left + i) * ldb + k0 + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc = fmaf(As[k][x], Bs[k][y], acc);       // the element in row x, column y of the tile
        __syncthreads();
    }
    Cs[x][y] = alpha * acc;
    __syncthreads();
    if (top + y < M && left + x < N) {
        float* c = C + (size_t)(top + y) * ldc + left + x;
        *c = beta != 0.0f ? fmaf(beta, *c, Cs[y][x]) : Cs[y][x];
    }
}
