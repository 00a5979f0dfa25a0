// histogram.cu -- how often each byte's high digit occurs, counted in shared memory
//
// Computes  counts[d] = number of keys with digit d, 64 digits
// Idea      a histogram per block, then one atomic per digit
// Launch    grid 3, block 128
extern "C" __global__ void histogram(int n, int shift, const unsigned* keys, int* counts) {
    __shared__ int mine[64];
    if (threadIdx.x < 64) mine[threadIdx.x] = 0;
    __syncthreads();                           // the counts are 0
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[keys[i] >> shift & 63], 1);
    __syncthreads();                           // all keys are counted
    if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
