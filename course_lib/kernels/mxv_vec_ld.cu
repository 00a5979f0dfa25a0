// mxv_vec_ld.cu -- four components with every load
//
// Computes  out[h][r] = sum over c of matrix[r][c] * in[h][c], for S vectors h       float32, M x N matrix in constant memory
// Idea      a lane uses 16 bytes of a sector instead of 4
// Launch    any grid and block: threads stride over the vectors
// Shared    none
// Edges     any S; S * M and S * N below 2^31; N a multiple of 4, in and out at multiples of 16 bytes
// Lesson    notebooks/13_matrix_vector.ipynb      Next  mxv_vls.cu
#ifndef M             // the launcher passes all with -D, or none
#define M 16           // components of an output vector
#define N 16           // components of an input vector
#endif
static_assert(N % 4 == 0, "a vector load takes four components");
__constant__ float matrix[M][N];

extern "C" __global__ void
mxv_vec_ld(int S, const float* __restrict__ in, float* __restrict__ out) {
    const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int h = start; h < S; h += step) {
        float y[M] = {};
        for (int c = 0; c < N; c += 4) {
            const float4 x = *reinterpret_cast<const float4*>(&in[h * N + c]);
            for (int r = 0; r < M; ++r)
                y[r] += matrix[r][c] * x.x + matrix[r][c + 1] * x.y + matrix[r][c + 2] * x.z + matrix[r][c + 3] * x.w;
        }
        for (int r = 0; r < M; ++r) out[h * M + r] = y[r];
    }
}
