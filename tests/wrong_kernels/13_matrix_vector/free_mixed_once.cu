// free_mixed_once.cu -- mixes the components when it fills the rows, and forgets it when it reads them
//
// Part             free
// Must fail for    wrong
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_free(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][N];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int v = t; v < left * N; v += THREADS) rows[v / N][v % N ^ v / N / 2 % 16] = in[h0 * N + v];
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
