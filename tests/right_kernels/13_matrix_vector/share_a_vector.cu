// share_a_vector.cu -- another right solution: CHUNK lanes share a vector and its outputs, a word of shared memory a thread (K's mxv_sh_ochunk)
//
// Part             main
#define M 16
#define N 16
#define THREADS 128
#define CHUNK 8
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    __shared__ float chunk[THREADS];
    const int t = threadIdx.x, i = t % CHUNK, first = t - i;
    for (int v = t / CHUNK; v < THREADS; v += THREADS / CHUNK) {
        const int h = blockIdx.x * THREADS + v;
        float y[M / CHUNK] = {};               // outputs i, i + CHUNK: neighbouring lanes, neighbouring outputs
        for (int c0 = 0; c0 < N; c0 += CHUNK) {
            chunk[t] = h < S ? in[h * N + c0 + i] : 0.0f;
            __syncwarp();                      // the chunk of the group is complete
            for (int c = 0; c < CHUNK; ++c)
                for (int r = 0; r < M / CHUNK; ++r) y[r] += matrix[r * CHUNK + i][c0 + c] * chunk[first + c];
            __syncwarp();                      // everyone has read it
        }
        if (h < S)
            for (int r = 0; r < M / CHUNK; ++r) out[h * M + r * CHUNK + i] = y[r];
    }
}
