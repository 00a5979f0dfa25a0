// b_barrier_missing.cu -- computes while other threads still bring its vector
//
// Part             main-b
// Must fail for    hazard: no __syncthreads() stands between
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_apart(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][N + 1];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int v = t; v < left * N; v += THREADS) rows[v / N][v % N] = in[h0 * N + v];
    if (t < left) {
        float y[M] = {};
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * rows[t][c];
        for (int r = 0; r < M; ++r) out[r * S + h0 + t] = y[r];
    }
}
