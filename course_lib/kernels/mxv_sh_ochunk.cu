// mxv_sh_ochunk.cu -- CHUNK threads share a vector and divide its outputs
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      a word of shared memory a thread is enough: each lane brings one component, and all of the group read it
// Launch    block (THREADS); any grid: blocks stride over the vectors
// Shared    4 * THREADS bytes per block
// Edges     any S; S * M and S * N below 2^31; M a multiple of CHUNK
// Lesson    notebooks/13_matrix_vector.ipynb
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#define THREADS 256          // of a block
#define CHUNK 8            // threads a vector, and components brought on chip at a time
#endif
static_assert(M % CHUNK == 0, "every thread computes M / CHUNK outputs");
static_assert(32 % CHUNK == 0 && THREADS % 32 == 0 && THREADS <= 1024, "a group of threads lies in one warp");
__constant__ float matrix[M][N];

extern "C" __global__ void __launch_bounds__(THREADS)
mxv_sh_ochunk(int S, const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float chunk[THREADS];
    const int t = threadIdx.x, i = t % CHUNK, first = t - i;
    for (int h0 = blockIdx.x * (THREADS / CHUNK); h0 < S; h0 += gridDim.x * (THREADS / CHUNK)) {
        const int h = h0 + t / CHUNK;
        float y[M / CHUNK] = {};               // outputs i, i + CHUNK, …: neighbouring lanes, neighbouring outputs
        for (int c0 = 0; c0 < N; c0 += CHUNK) {
            chunk[t] = h < S && c0 + i < N ? in[h * N + c0 + i] : 0.0f;
            __syncwarp();                      // the chunk of the group is complete
            for (int c = 0; c < CHUNK; ++c)
                if (c0 + c < N)
                    for (int r = 0; r < M / CHUNK; ++r) y[r] += matrix[r * CHUNK + i][c0 + c] * chunk[first + c];
            __syncwarp();                      // everyone has read it
        }
        if (h < S)
            for (int r = 0; r < M / CHUNK; ++r) out[h * M + r * CHUNK + i] = y[r];
    }
}
