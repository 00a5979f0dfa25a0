// barrier_votes.cu -- barriers that count
//
// Computes  out[b] = how many, whether all, whether any of block b's values are odd
// Idea      a barrier and a vote in one instruction
// Launch    grid 3, block 80
extern "C" __global__ void barrier_votes(const int* x, int* out) {
    const int odd = x[blockIdx.x * blockDim.x + threadIdx.x] & 1;
    const int count = __syncthreads_count(odd), all = __syncthreads_and(odd), any = __syncthreads_or(odd);
    if (threadIdx.x == blockDim.x - 1) {
        out[3 * blockIdx.x] = count;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}
