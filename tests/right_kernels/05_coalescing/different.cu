// different.cu -- another right solution: 32 x 8 outputs, threads numbered anew for loading, As turned and padded, two buffers
//
// Part             main
#define BM 8
#define BN 32
#define BK 16

static __device__ void fill(int k0, int t, int M, int N, int K, const float* A, int lda, const float* B, int ldb,
                            float (*As)[BK + 1], float (*Bs)[BN]) {
    for (int e = t; e < BK * BM; e += BM * BN) {
        const int i = e % BM, k = e / BM, row = blockIdx.y * BM + i;
        float a = 0.0f;
        if (row < M && k0 + k < K) a = A[(size_t)(k0 + k) * lda + row];
        As[i][k] = a;
    }
    for (int e = t; e < BK * BN; e += BM * BN) {
        const int j = e % BN, k = e / BN, col = blockIdx.x * BN + j;
        float b = 0.0f;
        if (col < N && k0 + k < K) b = B[(size_t)(k0 + k) * ldb + col];
        Bs[k][j] = b;
    }
}

extern "C" __global__ void
transposed_a(int M, int N, int K, float alpha, const float* A, int lda,
             const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[2][BM][BK + 1], Bs[2][BK][BN];
    const int t = threadIdx.y * BN + threadIdx.x;
    float acc = 0.0f;
    int now = 0;
    fill(0, t, M, N, K, A, lda, B, ldb, As[0], Bs[0]);
    for (int k0 = 0; k0 < K; k0 += BK, now ^= 1) {
        __syncthreads();                       // this round's tiles are complete, and last round's are no longer read
        if (k0 + BK < K) fill(k0 + BK, t, M, N, K, A, lda, B, ldb, As[now ^ 1], Bs[now ^ 1]);
        for (int k = BK - 1; k >= 0; --k)
            acc = fmaf(As[now][threadIdx.y][k], Bs[now][k][threadIdx.x], acc);
    }
    const int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    if (row >= M || col >= N) return;
    float result = alpha * acc;
    if (beta != 0.0f) result += beta * C[row * ldc + col];
    C[row * ldc + col] = result;
}
