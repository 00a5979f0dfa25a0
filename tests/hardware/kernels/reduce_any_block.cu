// reduce_any_block.cu -- the same sum for a block of any size
//
// Computes  y[b] = sum of block b's elements
// Idea      the compiler does not know how often the loop runs
// Launch    grid n / 96, block 96
extern "C" __global__ void reduce_any_block(const int* x, int* y) {
    extern __shared__ int sum[];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();                           // the input is there
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0 && t + d < blockDim.x) sum[t] += sum[t + d];
        __syncthreads();                       // the step is complete
    }
    if (t == 0) y[blockIdx.x] = sum[0];
}
