// matvec_thread.cu -- matrix times vector in double precision, a thread a row, x in shared memory
//
// Computes  y = A x
// Idea      all lanes read one element of the tile; the matrix is read across its rows
// Launch    grid ceil(rows/64), block 64
extern "C" __global__ void matvec_thread(int rows, int cols, const double* A, const double* x, double* y) {
    __shared__ double tile[64];
    const int row = blockIdx.x * 64 + threadIdx.x;
    double sum = 0;
    for (int k0 = 0; k0 < cols; k0 += 64) {
        if (k0 + threadIdx.x < cols) tile[threadIdx.x] = x[k0 + threadIdx.x];
        __syncthreads();                       // the tile is complete
        if (row < rows)
            for (int k = 0; k < 64 && k0 + k < cols; ++k) sum += A[row * cols + k0 + k] * tile[k];
        __syncthreads();                       // all have read it
    }
    if (row < rows) y[row] = sum;
}
