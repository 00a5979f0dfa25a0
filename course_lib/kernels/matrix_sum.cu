// matrix_sum.cu -- C = alpha * P + beta * C, element by element
//
// Computes  C[rows,cols] = alpha * P[rows,cols] + beta * C[rows,cols]       row-major float32
// Idea      the third kernel of Wong's unfused product: it reads and writes all of C once more
// Launch    grid (ceil(cols/bx), ceil(rows/by)), block (bx, by): one thread per element
// Shared    none
// Strides   ldp, ldc: elements from one row to the next
// Edges     any rows, cols below 2^31 elements a matrix
// Lesson    notebooks/14_gemm_at_work.ipynb

extern "C" __global__ void
matrix_sum(int rows, int cols, float alpha, const float* P, int ldp, float beta, float* C, int ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float* c = &C[row * ldc + col];
    *c = alpha * P[row * ldp + col] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
}
