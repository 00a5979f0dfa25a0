// mxv_vls.cu -- vector loads and stores that neighbouring lanes make together
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      N/4 lanes read one vector side by side, then the next one of theirs; 16 bytes a thread carry it to its owner
// Launch    block (THREADS); any grid: blocks stride over the vectors
// Shared    16 * THREADS bytes per block
// Edges     any S; S * M and S * N below 2^31; M = N, 4, 8, 16, …, 128; in and out at multiples of 16 bytes
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_sh.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#define THREADS 256          // of a block
#endif
static_assert(M == N && N % 4 == 0 && 32 % (N / 4) == 0, "the lanes of a warp share out whole vectors of fours");
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "a block has whole warps, at most 1024 threads");
__constant__ float matrix[M][N];

extern "C" __global__ void __launch_bounds__(THREADS)
mxv_vls(int S, const float* __restrict__ in, float* __restrict__ out) {
    constexpr int G = N / 4;                   // lanes that work together, and vectors that they carry in G rounds
    __shared__ float4 carry[THREADS];
    const int t = threadIdx.x, i = t % G, first = t - i;
    for (int h0 = blockIdx.x * THREADS; h0 < S; h0 += gridDim.x * THREADS) {
        float4 x[G];                           // this thread's vector, h0 + t
        for (int j = 0; j < G; ++j) {
            const int h = h0 + first + j;
            carry[t] = h < S ? reinterpret_cast<const float4*>(in)[h * G + i] : float4{};
            __syncwarp();                      // the whole vector has arrived
            if (i == j)
                for (int p = 0; p < G; ++p) x[p] = carry[first + p];
            __syncwarp();                      // its owner has read it
        }
        float y[M] = {};
        for (int p = 0; p < G; ++p)
            for (int r = 0; r < M; ++r)
                y[r] += matrix[r][4 * p] * x[p].x + matrix[r][4 * p + 1] * x[p].y + matrix[r][4 * p + 2] * x[p].z + matrix[r][4 * p + 3] * x[p].w;
        for (int j = 0; j < G; ++j) {
            const int h = h0 + first + j;
            if (i == j)
                for (int p = 0; p < G; ++p) carry[first + p] = make_float4(y[4 * p], y[4 * p + 1], y[4 * p + 2], y[4 * p + 3]);
            __syncwarp();                      // the owner has written its vector
            if (h < S) reinterpret_cast<float4*>(out)[h * G + i] = carry[t];
            __syncwarp();                      // all pieces are on their way
        }
    }
}
