// bitonic_sort.cu -- sort each block's 256 keys in shared memory
//
// Computes  y = x, every 256 elements in order
// Idea      a fixed network of comparisons
// Launch    grid n / 256, block 256
extern "C" __global__ void bitonic_sort(const float* x, float* y) {
    __shared__ float keys[256];
    const int t = threadIdx.x;
    keys[t] = x[blockIdx.x * 256 + t];
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();                   // the last exchange is complete
            const int other = t ^ step;
            if (other > t) {
                const float a = keys[t], b = keys[other];
                if ((a > b) == ((t & size) == 0)) {
                    keys[t] = b;
                    keys[other] = a;
                }
            }
        }
    __syncthreads();                           // the keys are in order
    y[blockIdx.x * 256 + t] = keys[t];
}
