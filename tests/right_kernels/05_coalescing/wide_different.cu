// wide_different.cu -- another right solution: one decision for a whole matrix, vectors where rows are aligned and whole, else single floats
//
// Part             wide
#define BM 32
#define BN 32
#define BK 16
extern "C" __global__ void
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 As4[BM][BK / 4], Bs4[BK][BN / 4];
    float (*As)[BK] = reinterpret_cast<float (*)[BK]>(As4);
    float (*Bs)[BN] = reinterpret_cast<float (*)[BN]>(Bs4);
    const int t = threadIdx.y * BN + threadIdx.x;
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;
    const bool aligned = lda % 4 == 0 && ldb % 4 == 0;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (aligned && top + BM <= M && left + BN <= N && k0 + BK <= K) {
            if (t < BM * BK / 4)
                As4[t / (BK / 4)][t % (BK / 4)] = *(const float4*)(A + (top + t / (BK / 4)) * lda + k0 + 4 * (t % (BK / 4)));
            else if (const int u = t - BM * BK / 4; u < BK * BN / 4)
                Bs4[u / (BN / 4)][u % (BN / 4)] = *(const float4*)(B + (k0 + u / (BN / 4)) * ldb + left + 4 * (u % (BN / 4)));
        } else {
            for (int e = t; e < BM * BK; e += BM * BN)
                As[e / BK][e % BK] = top + e / BK < M && k0 + e % BK < K ? A[(top + e / BK) * lda + k0 + e % BK] : 0.0f;
            for (int e = t; e < BK * BN; e += BM * BN)
                Bs[e / BN][e % BN] = k0 + e / BN < K && left + e % BN < N ? B[(k0 + e / BN) * ldb + left + e % BN] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc = fmaf(As[threadIdx.y][k], Bs[k][threadIdx.x], acc);
        __syncthreads();
    }
    const int row = top + threadIdx.y, col = left + threadIdx.x;
    if (row >= M || col >= N) return;
    float result = alpha * acc;
    if (beta != 0.0f) result += beta * C[row * ldc + col];
    C[row * ldc + col] = result;
}
