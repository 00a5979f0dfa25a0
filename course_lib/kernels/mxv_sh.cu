// mxv_sh.cu -- chunks of all vectors through shared memory
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      CHUNK lanes read CHUNK neighbouring components; rows of CHUNK + 1 words keep the columns free of conflicts
// Launch    block (THREADS); any grid: blocks stride over the vectors
// Shared    4 * THREADS * (CHUNK + 1) bytes per block
// Edges     any S; S * M and S * N below 2^31
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_sh_ochunk.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#define THREADS 256          // of a block
#define CHUNK 8            // components brought on chip at a time
#endif
static_assert(THREADS <= 1024 && THREADS % CHUNK == 0, "the threads of a block share out a chunk of each of its vectors");
static_assert(4 * THREADS * (CHUNK + 1) <= 48 * 1024, "the chunk lies in the 48 KiB of static shared memory of a block");
__constant__ float matrix[M][N];

extern "C" __global__ void __launch_bounds__(THREADS)
mxv_sh(int S, const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float chunk[THREADS][CHUNK + 1];
    const int t = threadIdx.x;
    for (int h0 = blockIdx.x * THREADS; h0 < S; h0 += gridDim.x * THREADS) {
        float y[M] = {};
        for (int c0 = 0; c0 < N; c0 += CHUNK) {
            for (int v = t; v < THREADS * CHUNK; v += THREADS) {
                const int h = h0 + v / CHUNK, c = c0 + v % CHUNK;
                chunk[v / CHUNK][v % CHUNK] = h < S && c < N ? in[h * N + c] : 0.0f;
            }
            __syncthreads();                   // the chunk is complete
            for (int c = 0; c < CHUNK; ++c)
                if (c0 + c < N)
                    for (int r = 0; r < M; ++r) y[r] += matrix[r][c0 + c] * chunk[t][c];
            __syncthreads();                   // everyone has read it
        }
        for (int r0 = 0; r0 < M; r0 += CHUNK) {
            for (int r = 0; r < CHUNK; ++r)
                if (r0 + r < M) chunk[t][r] = y[r0 + r];
            __syncthreads();                   // the outputs are complete
            for (int v = t; v < THREADS * CHUNK; v += THREADS) {
                const int h = h0 + v / CHUNK, r = r0 + v % CHUNK;
                if (h < S && r < M) out[h * M + r] = chunk[v / CHUNK][v % CHUNK];
            }
            __syncthreads();                   // everyone has stored them
        }
    }
}
