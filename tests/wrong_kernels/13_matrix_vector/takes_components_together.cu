// takes_components_together.cu -- reads the vectors as if component 0 of all of them came first
//
// Part             main
// Must fail for    wrong: The vectors are taken in the other layout
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][N + 1];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, left = min(THREADS, S - h0);
    for (int c = 0; c < N; ++c)
        if (t < left) rows[t][c] = in[c * S + h0 + t];
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
