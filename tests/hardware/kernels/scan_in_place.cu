// scan_in_place.cu -- running sums in one buffer
//
// Computes  y[i] = x[0] + ... + x[i] within each block of 64
// Idea      two barriers a step; lanes below the distance only wait
// Launch    grid n / 64, block 64
extern "C" __global__ void scan_in_place(const int* x, int* y) {
    __shared__ int sum[64];
    const int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 64 + t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();                       // the last step is complete
        int add = 0;
        if (t >= d) add = sum[t - d];
        __syncthreads();                       // all have read
        if (t >= d) sum[t] += add;
    }
    y[blockIdx.x * 64 + t] = sum[t];
}
