// sort_odd_even.cu -- each block's 64 keys in order, neighbour by neighbour
//
// Computes  y = x, every 64 elements in order
// Idea      an exchange happens only in some lanes
// Launch    grid n / 64, block 64
extern "C" __global__ void sort_odd_even(const int* x, int* y) {
    __shared__ int keys[64];
    const int t = threadIdx.x;
    keys[t] = x[blockIdx.x * 64 + t];
    for (int step = 0; step < 64; ++step) {
        __syncthreads();                       // the last step is complete
        if ((t + step) % 2 == 0 && t < 63) {
            const int a = keys[t], b = keys[t + 1];
            if (a > b) {
                keys[t] = b;
                keys[t + 1] = a;
            }
        }
    }
    __syncthreads();                           // the keys are in order
    y[blockIdx.x * 64 + t] = keys[t];
}
