// wide_beyond_the_row.cu -- loads the last vector of a row whole, with what stands behind the row
//
// Part             wide
// Must fail for    wrong: NaN stands between the rows
#define BM 16
#define BN 16
#define BK 16
static __device__ float4 load4(const float* p, int left, bool last_row) {
    if (left > (last_row ? 3 : 0) && (size_t)p % 16 == 0)
        return *reinterpret_cast<const float4*>(p);
    return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f);
}

extern "C" __global__ void
wide(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ alignas(16) float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    const int v = (ty * BN + tx) % 64, i = v / 4, j = v % 4 * 4;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (ty < 4)
            *reinterpret_cast<float4*>(&As[i][j]) =
                load4(&A[(blockIdx.y * BM + i) * lda + k0 + j], blockIdx.y * BM + i < M ? K - k0 - j : 0, blockIdx.y * BM + i == M - 1);
        else if (ty < 8)
            *reinterpret_cast<float4*>(&Bs[i][j]) =
                load4(&B[(k0 + i) * ldb + blockIdx.x * BN + j], k0 + i < K ? N - int(blockIdx.x * BN) - j : 0, k0 + i == K - 1);
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
