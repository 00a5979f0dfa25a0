// transpose_bytes.cu -- transpose of bytes and of doubles through shared memory
//
// Computes  y = x transposed, 32 x 32, bytes and doubles
// Idea      narrow and wide elements in the banks
// Launch    grid 1, block (32, 32)
extern "C" __global__ void transpose_bytes(const signed char* x, signed char* y, const double* u, double* v) {
    __shared__ signed char small[32][36];
    __shared__ double wide[32][33];
    const int i = threadIdx.x, j = threadIdx.y;
    small[j][i] = x[j * 32 + i];
    wide[j][i] = u[j * 32 + i];
    __syncthreads();                          // both tiles are complete
    y[j * 32 + i] = small[i][j];
    v[j * 32 + i] = wide[i][j];
}
