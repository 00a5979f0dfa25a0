// free_one_way.cu -- free of conflicts on the way in, padded on the way out
//
// Part             free
// Must fail for    gate: shared wavefronts per 32 components: 5.0000
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_free(int S, const float* in, float* out) {
    __shared__ float words[THREADS * N + THREADS * N / 32], rows[THREADS][M + 1];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int v = t; v < left * N; v += THREADS) words[v + v / 32] = in[h0 * N + v];
    __syncthreads();
    if (t < left) {
        float y[M] = {};
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * words[t * N + c + (t * N + c) / 32];
        for (int r = 0; r < M; ++r) rows[t][r] = y[r];
    }
    __syncthreads();
    for (int v = t; v < left * M; v += THREADS) out[h0 * M + v] = rows[v / M][v % M];
}
