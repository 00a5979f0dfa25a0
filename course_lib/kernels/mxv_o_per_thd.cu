// mxv_o_per_thd.cu -- a thread per output component
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      M neighbouring lanes share a vector and store side by side; but their rows of the matrix differ
// Launch    any grid and block: threads stride over the vectors
// Shared    none
// Edges     any S; S * M and S * N below 2^31
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_vec_ld.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#endif
__constant__ float matrix[M][N];

extern "C" __global__ void
mxv_o_per_thd(int S, const float* __restrict__ in, float* __restrict__ out) {
    const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = start; i < S * M; i += step) {
        const int h = i / M, r = i % M;
        float sum = 0.0f;
        for (int c = 0; c < N; ++c) sum += matrix[r][c] * in[h * N + c];
        out[i] = sum;
    }
}
