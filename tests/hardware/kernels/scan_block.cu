// scan_block.cu -- running sums, by distances that double
//
// Computes  y[i] = x[0] + ... + x[i] within each block of 128
// Idea      two buffers in turn, one barrier a step
// Launch    grid n / 128, block 128
extern "C" __global__ void scan_block(const int* x, int* y) {
    __shared__ int buffer[2][128];
    const int t = threadIdx.x;
    int now = 0;
    buffer[0][t] = x[blockIdx.x * 128 + t];
    __syncthreads();                           // the input is there
    for (int d = 1; d < 128; d *= 2) {
        buffer[1 - now][t] = buffer[now][t] + (t >= d ? buffer[now][t - d] : 0);
        now = 1 - now;
        __syncthreads();                       // the step is complete
    }
    y[blockIdx.x * 128 + t] = buffer[now][t];
}
