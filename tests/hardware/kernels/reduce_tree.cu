// reduce_tree.cu -- the sum of a block in shared memory, halving
//
// Computes  out[b] = sum of block b's 256 elements
// Idea      half of the threads add, then a quarter, ...
// Launch    grid n / 256, block 256
extern "C" __global__ void reduce_tree(const float* x, float* out) {
    __shared__ float sum[256];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();                       // the sums of the last step are there
        if (t < half) sum[t] += sum[t + half];
    }
    if (t == 0) out[blockIdx.x] = sum[0];
}
