// along_k.cu -- another right solution: the tile as b[j][k], read four words along k, and two arrays of sums
//
// Part             main
#define THREADS 128
#define VECTORS 2
#define COLS 24
#define BK 16
extern "C" __global__ void __launch_bounds__(THREADS, 5)
outer(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 b[COLS][BK / 4];
    const int row = blockIdx.x * (2 * THREADS) + threadIdx.x, left = blockIdx.y * COLS;
    const float* first = A + min(row, M - 1);
    const float* second = A + min(row + THREADS, M - 1);
    float upper[COLS] = {}, lower[COLS] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BK * COLS; i += THREADS) {
            const int k = k0 + i % BK, j = left + i / BK;
            reinterpret_cast<float*>(b)[i] = k < K && j < N ? B[k + j * ldb] : 0.0f;
        }
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < BK; k += 4) {
            float p[4], q[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int column = min(k0 + k + i, K - 1) * lda;      // beyond K the tile holds 0
                p[i] = first[column];
                q[i] = second[column];
            }
#pragma unroll
            for (int j = 0; j < COLS; ++j) {
                const float4 w = b[j][k / 4];
                upper[j] += p[0] * w.x + p[1] * w.y + p[2] * w.z + p[3] * w.w;
                lower[j] += q[0] * w.x + q[1] * w.y + q[2] * w.z + q[3] * w.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < COLS; ++j)
        if (left + j < N) {
            float* const out = C + (left + j) * ldc;
            if (row < M) out[row] = alpha * upper[j] + (beta == 0.0f ? 0.0f : beta * out[row]);
            if (row + THREADS < M) out[row + THREADS] = alpha * lower[j] + (beta == 0.0f ? 0.0f : beta * out[row + THREADS]);
        }
}
