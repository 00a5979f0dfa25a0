// b_warps_alone.cu -- another right solution of variant b: every warp brings its own 32 vectors, and waits for nobody else
//
// Part             main-b
#define M 16
#define N 16
#define THREADS 96
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_apart(int S, const float* in, float* out) {
    __shared__ float rows[THREADS / 32][32][N + 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, h0 = blockIdx.x * THREADS + 32 * warp;
    for (int i = lane / N; i < 32; i += 32 / N)
        rows[warp][i][lane % N] = h0 + i < S ? in[(h0 + i) * N + lane % N] : 0.0f;
    __syncwarp();                              // the warp's vectors are complete
    for (int r = 0; r < M; ++r) {
        float sum = 0.0f;
        for (int c = 0; c < N; ++c) sum += matrix[r][c] * rows[warp][lane][c];
        if (h0 + lane < S) out[r * S + h0 + lane] = sum;
    }
}
