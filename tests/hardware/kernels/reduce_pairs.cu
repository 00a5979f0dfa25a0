// reduce_pairs.cu -- the sum of a block, neighbours first
//
// Computes  y[b] = sum of block b's 256 elements
// Idea      the first step's two loads fill 8 aligned bytes, under a condition
// Launch    grid n / 256, block 256
extern "C" __global__ void reduce_pairs(const int* x, int* y) {
    __shared__ int sum[256];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 256 + t];
    __syncthreads();                           // the input is there
    for (int d = 1; d < 256; d *= 2) {
        if (2 * d * t < 256) sum[2 * d * t] += sum[2 * d * t + d];
        __syncthreads();                       // the step is complete
    }
    if (t == 0) y[blockIdx.x] = sum[0];
}
