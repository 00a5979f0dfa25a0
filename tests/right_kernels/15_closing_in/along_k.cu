// along_k.cu -- another right solution: A's tile lies as A does, and a thread reads four steps along k of a row at once
//
// Part             main
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
static __device__ float4 four(const float* row, int left, int ld) {
    if (left > 3 && ld % 4 == 0) return *reinterpret_cast<const float4*>(row);
    float v[4];
    for (int n = 0; n < 4; ++n) v[n] = n < left ? row[n] : 0.0f;
    return make_float4(v[0], v[1], v[2], v[3]);
}
static __device__ float part(const float4& v, int n) { return n == 0 ? v.x : n == 1 ? v.y : n == 2 ? v.z : v.w; }

extern "C" __global__ void __launch_bounds__(64, 8)
lean(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 As[BM][BK / 4], Bs[BK][BN / 4];
    const int t = threadIdx.x + 8 * threadIdx.y, top = blockIdx.y * BM, left = blockIdx.x * BN;
    const int down = t / 2 % 2 + t / 16 * 2, on = t % 2 + t / 4 % 4 * 2;
    float sums[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int v = t; v < 128; v += 64) {
            const int row = top + v / 2, k = k0 + v % 2 * 4, below = k0 + v / 16, col = left + v % 16 * 4;
            As[v / 2][v % 2] = four(&A[row * lda + k], row < M ? K - k : 0, lda);
            Bs[v / 16][v % 16] = four(&B[below * ldb + col], below < K ? N - col : 0, ldb);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += 4) {
            float4 a[TM];
#pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = As[down + 8 * i][k / 4];
#pragma unroll
            for (int s = 0; s < 4 * TM * TN; ++s) {
                const int q = s / 64, i = s / 8 % 8, j = s % 8;
                sums[i][j] += part(a[i], q) * part(Bs[k + q][on + j / 4 * 8], j % 4);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < TM * TN; ++s) {
        const int row = top + down + s / 8 * 8, col = left + on * 4 + s % 8 / 4 * 32 + s % 4;
        if (row < M && col < N)
            C[row * ldc + col] = alpha * sums[s / 8][s % 8] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
    }
}
