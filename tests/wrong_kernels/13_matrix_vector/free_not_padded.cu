// free_not_padded.cu -- rows of 16 words: a column lies in two banks
//
// Part             free
// Must fail for    gate: shared wavefronts per 32 components
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_free(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][N];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int v = t; v < left * N; v += THREADS) rows[v / N][v % N] = in[h0 * N + v];
    __syncthreads();
    if (t < left) {
        float y[M] = {};
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * rows[t][c];
        for (int r = 0; r < M; ++r) rows[t][r] = y[r];
    }
    __syncthreads();
    for (int v = t; v < left * M; v += THREADS) out[h0 * M + v] = rows[v / M][v % M];
}
