// histogram.cu -- counts[v] = how many of x's n elements are v (0 ... 63); counts begins with zeros
//
// Launch    grid any, block 128
extern "C" __global__ void
histogram(int n, const unsigned char* x, unsigned* counts) {
    __shared__ unsigned here[64];                // of this block
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&here[x[i]], 1);
    __syncthreads();                             // everything is counted
    if (threadIdx.x < 64)
        atomicAdd(&counts[threadIdx.x], here[threadIdx.x]);
}
