// reduce_interleaved.cu -- the sum of a block with strides that grow
//
// Computes  out[b] = sum of block b's 128 doubles
// Idea      bank conflicts double from step to step
// Launch    grid n / 128, block 128
extern "C" __global__ void reduce_interleaved(const double* x, double* out) {
    __shared__ double sum[128];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 128 + t];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();                       // the sums of the last step are there
        const int at = 2 * step * t;
        if (at < 128) sum[at] += sum[at + step];
    }
    if (t == 0) out[blockIdx.x] = sum[0];
}
