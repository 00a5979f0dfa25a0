// barrier_missing_in_the_loop.cu -- the next chunk overwrites what slower warps still read
//
// Part             main
// Must fail for    hazard: of the next round
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    __shared__ float chunk[THREADS][9];
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS;
    float y[M] = {};
    for (int c0 = 0; c0 < N; c0 += 8) {
        for (int v = t; v < THREADS * 8; v += THREADS)
            chunk[v / 8][v % 8] = h0 + v / 8 < S ? in[(h0 + v / 8) * N + c0 + v % 8] : 0.0f;
        __syncthreads();
        for (int c = 0; c < 8; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c0 + c] * chunk[t][c];
    }
    for (int r0 = 0; r0 < M; r0 += 8) {
        __syncthreads();
        for (int r = 0; r < 8; ++r) chunk[t][r] = y[r0 + r];
        __syncthreads();
        for (int v = t; v < THREADS * 8; v += THREADS)
            if (h0 + v / 8 < S) out[(h0 + v / 8) * M + r0 + v % 8] = chunk[v / 8][v % 8];
    }
}
