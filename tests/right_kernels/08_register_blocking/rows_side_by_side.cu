// rows_side_by_side.cu -- another right solution: 8 × 4 outputs, A's tile turned and padded, one output of a row at a time
//
// Part             main
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 4
static constexpr int ROWS = BM / TM, COLS = BN / TN;

extern "C" __global__ void __launch_bounds__(ROWS * COLS)
blocked(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float turned[BK * (BM + 4)];
    __shared__ __align__(16) float slab[BK * BN];
    const int t = threadIdx.y * COLS + threadIdx.x;
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;
    float sums[TM * TN];
#pragma unroll
    for (int s = 0; s < TM * TN; ++s) sums[s] = 0.0f;
    for (int done = 0; done < K; done += BK) {
        if (done) __syncthreads();
        for (int e = t; e < BM * BK; e += ROWS * COLS) {
            const int m = e / BK, k = e - m * BK;
            float x = 0.0f;
            if (top + m < M && done + k < K) x = A[(top + m) * lda + done + k];
            turned[k * (BM + 4) + m] = x;
        }
        for (int e = t; e < BN * BK; e += ROWS * COLS) {
            const int k = e / BN, n = e - k * BN;
            float x = 0.0f;
            if (left + n < N && done + k < K) x = B[(done + k) * ldb + left + n];
            slab[e] = x;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 b = *reinterpret_cast<const float4*>(&slab[k * BN + threadIdx.x * 4]);
#pragma unroll
            for (int m = 0; m < TM; ++m) {
                const float a = turned[k * (BM + 4) + threadIdx.y * TM + m];
                sums[4 * m] = fmaf(a, b.x, sums[4 * m]);
                sums[4 * m + 1] = fmaf(a, b.y, sums[4 * m + 1]);
                sums[4 * m + 2] = fmaf(a, b.z, sums[4 * m + 2]);
                sums[4 * m + 3] = fmaf(a, b.w, sums[4 * m + 3]);
            }
        }
    }
#pragma unroll
    for (int s = 0; s < TM * TN; ++s) {
        const int row = top + threadIdx.y * TM + s / TN, col = left + threadIdx.x * TN + s % TN;
        if (row >= M || col >= N) continue;
        const float old = beta == 0.0f ? 0.0f : beta * C[row * ldc + col];
        C[row * ldc + col] = fmaf(alpha, sums[s], old);
    }
}
