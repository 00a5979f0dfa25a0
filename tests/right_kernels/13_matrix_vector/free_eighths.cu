// free_eighths.cu -- another right solution: rows of 17 words, and a warp brings halves of 4 vectors that are 8 apart
//
// Part             free
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_free(int S, const float* in, float* out) {
    __shared__ float rows[THREADS][17];        // lane l: half of vector l / 8 of the four, 8 lanes side by side
    const int t = threadIdx.x, h0 = blockIdx.x * THREADS, lane = t % 32, part = lane % 8, quarter = lane / 8;
    for (int i = t / 32; i < THREADS / 2; i += THREADS / 32) {
        const int v = i / 16 * 32 + i / 2 % 8 + 8 * quarter, c = i % 2 * 8 + part;
        if (h0 + v < S) rows[v][c] = in[(h0 + v) * N + c];
    }
    __syncthreads();                           // the vectors are complete
    if (h0 + t < S) {
        float y[M] = {};
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * rows[t][c];
        for (int r = 0; r < M; ++r) rows[t][r] = y[r];
    }
    __syncthreads();                           // the results are complete
    for (int i = t / 32; i < THREADS / 2; i += THREADS / 32) {
        const int v = i / 16 * 32 + i / 2 % 8 + 8 * quarter, r = i % 2 * 8 + part;
        if (h0 + v < S) out[(h0 + v) * M + r] = rows[v][r];
    }
}
