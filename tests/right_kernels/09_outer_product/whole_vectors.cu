// whole_vectors.cu -- another right solution: 128 threads, a tile of float4, sums by column, elements of A tested and not clamped
//
// Part             four
#define THREADS 128
#define VECTORS 4
#define COLS 12
#define BK 8
extern "C" __global__ void __launch_bounds__(THREADS)
four(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float4 b[BK][COLS / 4 + 2];
    const int t = threadIdx.x, top = blockIdx.x * (THREADS * VECTORS) + t, left = blockIdx.y * COLS;
    float c[COLS][VECTORS] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (t < BK * COLS) {
            const int k = t % BK, j = t / BK;
            reinterpret_cast<float*>(b[k])[j] = k0 + k < K && left + j < N ? B[k0 + k + (left + j) * ldb] : 0.0f;
        }
        __syncthreads();
        const int depth = min(BK, K - k0);
        for (int k = 0; k < depth; ++k) {
            const float* const column = A + (k0 + k) * lda;
            float x[VECTORS];
            for (int v = 0; v < VECTORS; ++v) x[v] = top + v * THREADS < M ? column[top + v * THREADS] : 0.0f;
            for (int q = 0; q < COLS / 4; ++q) {
                const float4 w = b[k][q];
                for (int v = 0; v < VECTORS; ++v) {
                    c[4 * q][v] += x[v] * w.x;
                    c[4 * q + 1][v] += x[v] * w.y;
                    c[4 * q + 2][v] += x[v] * w.z;
                    c[4 * q + 3][v] += x[v] * w.w;
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < VECTORS * COLS; ++s) {
        const int row = top + s % VECTORS * THREADS, col = left + s / VECTORS;
        if (row < M && col < N)
            C[row + col * ldc] = alpha * c[s / VECTORS][s % VECTORS] + (beta == 0.0f ? 0.0f : beta * C[row + col * ldc]);
    }
}
