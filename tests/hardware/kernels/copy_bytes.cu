// copy_bytes.cu -- single bytes and shorts at odd strides
//
// Computes  y[3 i] = x[5 i] for bytes, v[7 i] = u[3 i] for shorts
// Idea      several lanes share a sector, and a word
// Launch    grid 2, block 64
extern "C" __global__ void copy_bytes(const unsigned char* x, unsigned char* y, const short* u, short* v) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[3 * i] = x[5 * i];
    v[7 * i] = u[3 * i];
}
