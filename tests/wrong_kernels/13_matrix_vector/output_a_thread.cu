// output_a_thread.cu -- 16 lanes share a vector and all load all of it: 2 sectors a request, and 16 times as many requests
//
// Part             main
// Must fail for    gate: global sectors loaded per 32 components: 32.0000
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    const int r = threadIdx.x % M;
    for (int v = threadIdx.x / M; v < THREADS; v += THREADS / M) {
        const int h = blockIdx.x * THREADS + v;
        if (h >= S) return;
        float sum = 0.0f;
        for (int c = 0; c < N; ++c) sum += matrix[r][c] * in[h * N + c];
        out[h * M + r] = sum;
    }
}
