// mxv_g_only.cu -- straight from global memory
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      a thread per vector; neighbouring lanes are N words apart, so a sector serves one lane
// Launch    any grid and block: threads stride over the vectors
// Shared    none
// Edges     any S; S * M and S * N below 2^31
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_i_lbuf.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#endif
__constant__ float matrix[M][N];

extern "C" __global__ void
mxv_g_only(int S, const float* __restrict__ in, float* __restrict__ out) {
    const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int h = start; h < S; h += step)
        for (int r = 0; r < M; ++r) {
            float sum = 0.0f;
            for (int c = 0; c < N; ++c) sum += matrix[r][c] * in[h * N + c];
            out[h * M + r] = sum;
        }
}
