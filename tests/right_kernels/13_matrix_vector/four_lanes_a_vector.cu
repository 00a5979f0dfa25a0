// four_lanes_a_vector.cu -- another right solution: 4 lanes bring a vector with one load of 16 bytes each and carry it to its owner (K's mxv_vls)
//
// Part             main
#define M 16
#define N 16
#define THREADS 64
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_sh(int S, const float* in, float* out) {
    __shared__ float4 carry[THREADS];
    const int t = threadIdx.x, i = t % 4, first = t - i, h0 = blockIdx.x * THREADS + first;
    float4 x[4];
    for (int j = 0; j < 4; ++j) {
        carry[t] = h0 + j < S ? reinterpret_cast<const float4*>(in)[(h0 + j) * 4 + i] : float4{};
        __syncwarp();                          // the whole vector has arrived
        if (i == j)
            for (int p = 0; p < 4; ++p) x[p] = carry[first + p];
        __syncwarp();                          // its owner has read it
    }
    float y[M] = {};
    for (int p = 0; p < 4; ++p)
        for (int r = 0; r < M; ++r)
            y[r] += matrix[r][4 * p] * x[p].x + matrix[r][4 * p + 1] * x[p].y + matrix[r][4 * p + 2] * x[p].z + matrix[r][4 * p + 3] * x[p].w;
    for (int j = 0; j < 4; ++j) {
        if (i == j)
            for (int p = 0; p < 4; ++p) carry[first + p] = make_float4(y[4 * p], y[4 * p + 1], y[4 * p + 2], y[4 * p + 3]);
        __syncwarp();                          // the owner has written its result
        if (h0 + j < S) reinterpret_cast<float4*>(out)[(h0 + j) * 4 + i] = carry[t];
        __syncwarp();                          // all pieces are on their way
    }
}
