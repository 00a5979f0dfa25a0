// reduce_modulo.cu -- the sum of a block by threads that are multiples of a power of 2
//
// Computes  y[b] = sum of block b's 128 elements
// Idea      the condition is different in every lane, and the loop is known
// Launch    grid n / 128, block 128
extern "C" __global__ void reduce_modulo(const int* x, int* y) {
    __shared__ int sum[128];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 128 + t];
    __syncthreads();                           // the input is there
    for (int d = 1; d < 128; d *= 2) {
        if (t % (2 * d) == 0) sum[t] += sum[t + d];
        __syncthreads();                       // the step is complete
    }
    if (t == 0) y[blockIdx.x] = sum[0];
}
