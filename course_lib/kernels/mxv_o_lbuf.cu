// mxv_o_lbuf.cu -- the output vector grows in registers
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      an element of the input serves M sums at once, and is not needed again
// Launch    any grid and block: threads stride over the vectors
// Shared    none
// Edges     any S; S * M and S * N below 2^31
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_o_per_thd.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#endif
__constant__ float matrix[M][N];

extern "C" __global__ void
mxv_o_lbuf(int S, const float* __restrict__ in, float* __restrict__ out) {
    const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int h = start; h < S; h += step) {
        float y[M] = {};
        for (int c = 0; c < N; ++c) {
            const float x = in[h * N + c];
            for (int r = 0; r < M; ++r) y[r] += matrix[r][c] * x;
        }
        for (int r = 0; r < M; ++r) out[h * M + r] = y[r];
    }
}
