// reduce_shuffle.cu -- sums and largest elements by shuffles
//
// Computes  out[w] = sum of warp w's elements; all four kinds of shuffle on the way
// Idea      lanes read each other's registers
// Launch    grid 2, block 96
extern "C" __global__ void reduce_shuffle(const float* x, const long long* y, float* out, long long* turned) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float v = x[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) out[i / 32] = v;
    long long w = y[i];
    w += __shfl_down_sync(~0u, w, 3, 8);
    w ^= __shfl_up_sync(~0u, w, 5, 16);
    w -= __shfl_sync(~0u, w, lane * 7, 32);
    turned[i] = w;
}
