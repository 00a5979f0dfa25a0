// fours.cu -- four components with every load and store: half of each sector goes unused
//
// Part             main
// Must fail for    gate: global sectors loaded per 32 components: 8.0000
#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    const int h = blockIdx.x * THREADS + threadIdx.x;
    if (h >= S) return;
    float y[M] = {};
    for (int c = 0; c < N; c += 4) {
        const float4 x = *reinterpret_cast<const float4*>(&in[h * N + c]);
        for (int r = 0; r < M; ++r)
            y[r] += matrix[r][c] * x.x + matrix[r][c + 1] * x.y + matrix[r][c + 2] * x.z + matrix[r][c + 3] * x.w;
    }
    for (int r = 0; r < M; r += 4)
        *reinterpret_cast<float4*>(&out[h * M + r]) = make_float4(y[r], y[r + 1], y[r + 2], y[r + 3]);
}
