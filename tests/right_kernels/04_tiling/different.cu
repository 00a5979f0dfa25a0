// different.cu -- another right solution: two buffers, one barrier a round, As stored transposed, loads by thread number
//
// Part             tile
#define BM 32
#define BN 16
#define BK 8
#define THREADS (BM * BN)

static __device__ void load(int round, int t, int M, int N, int K, const float* A, int lda, const float* B, int ldb,
                            float (*As)[BM + 1], float (*Bs)[BN]) {
    for (int e = t; e < BM * BK; e += THREADS) {
        const int i = e / BK, k = e % BK, row = blockIdx.y * BM + i;
        float a = 0.0f;
        if (row < M && round * BK + k < K) a = A[row * lda + round * BK + k];
        As[k][i] = a;
    }
    for (int e = t; e < BK * BN; e += THREADS) {
        const int k = e / BN, j = e % BN, col = blockIdx.x * BN + j;
        float b = 0.0f;
        if (col < N && round * BK + k < K) b = B[(round * BK + k) * ldb + col];
        Bs[k][j] = b;
    }
}

extern "C" __global__ void
tiled(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[2][BK][BM + 1], Bs[2][BK][BN];
    const int t = threadIdx.y * BN + threadIdx.x;
    const int rounds = (K + BK - 1) / BK;
    float acc = 0.0f;
    load(0, t, M, N, K, A, lda, B, ldb, As[0], Bs[0]);
    for (int round = 0; round < rounds; ++round) {
        const int now = round % 2;
        __syncthreads();                       // this round's tiles are complete, and last round's are no longer read
        if (round + 1 < rounds) load(round + 1, t, M, N, K, A, lda, B, ldb, As[1 - now], Bs[1 - now]);
        for (int k = 0; k < BK; ++k)
            acc = fmaf(As[now][k][threadIdx.y], Bs[now][k][threadIdx.x], acc);
    }
    const int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    if (row >= M || col >= N) return;
    float result = alpha * acc;
    if (beta != 0.0f) result += beta * C[row * ldc + col];
    C[row * ldc + col] = result;
}
