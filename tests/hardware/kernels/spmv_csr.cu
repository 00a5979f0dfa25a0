// spmv_csr.cu -- sparse matrix times vector
//
// Computes  y = A x, A in compressed rows
// Idea      rows of different length: lanes wait for the longest
// Launch    grid ceil(rows/64), block 64
extern "C" __global__ void spmv_csr(int rows, const int* start, const int* column, const float* value, const float* x, float* y) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
}
