// last_block.cu -- a sum over all blocks in one launch
//
// Computes  out[0] = sum of x, by the block that finishes last
// Idea      a fence, then a ticket: the last one sees all partial sums
// Launch    grid 5, block 64
__device__ unsigned tickets = 0;

extern "C" __global__ void last_block(int n, const int* x, volatile int* partial, int* out) {
    __shared__ int sum[64];
    __shared__ bool last;
    int mine = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) mine += x[i];
    sum[threadIdx.x] = mine;
    __syncthreads();                           // all threads' sums are there
    if (threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < 64; ++k) total += sum[k];
        partial[blockIdx.x] = total;
        __threadfence();                       // the partial sum before the ticket
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();                           // everybody knows who is last
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += partial[b];
        out[0] = total;
    }
}
