// stores_by_atomics.cu -- the results go straight from their threads, by atomics, which no counter of stores has
//
// Part             main
// Must fail for    atomics: could not count it
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][N + 1];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int v = t; v < left * N; v += THREADS) rows[v / N][v % N] = in[h0 * N + v];
    __syncthreads();
    if (t < left) {
        float y[M] = {};
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * rows[t][c];
        for (int r = 0; r < M; ++r) atomicExch(&out[(h0 + t) * M + r], y[r]);
    }
}
