// radix_split.cu -- sort 8-bit keys by one bit after the other
//
// Computes  y = x in order, 64 keys a block
// Idea      a ballot tells each lane how many zeros stand before it
// Launch    grid 2, block 64
extern "C" __global__ void radix_split(const unsigned char* x, unsigned char* y) {
    __shared__ unsigned char keys[64];
    __shared__ int zeros[2];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned char key = x[blockIdx.x * 64 + t];
    for (int bit = 0; bit < 8; ++bit) {
        const unsigned ones = __ballot_sync(~0u, key >> bit & 1);
        if (lane == 0) zeros[warp] = 32 - __popc(ones);
        __syncthreads();                       // both warps' counts are there
        const int all = zeros[0] + zeros[1], before = __popc(ones & ((1u << lane) - 1));
        const int at = key >> bit & 1 ? all + (warp ? 32 - zeros[0] : 0) + before : (warp ? zeros[0] : 0) + lane - before;
        keys[at] = key;
        __syncthreads();                       // all keys are in their new places
        key = keys[t];
        __syncthreads();                       // all have read
    }
    y[blockIdx.x * 64 + t] = key;
}
