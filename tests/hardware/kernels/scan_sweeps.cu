// scan_sweeps.cu -- running sums without the own element, up and down a tree
//
// Computes  y[i] = x[0] + ... + x[i-1] within each block of 64
// Idea      the tree's levels have half as many threads each; the loops stay loops
// Launch    grid n / 64, block 32
extern "C" __global__ void scan_sweeps(const int* x, int* y) {
    __shared__ int tree[64];
    const int t = threadIdx.x;
    tree[2 * t] = x[blockIdx.x * 64 + 2 * t];
    tree[2 * t + 1] = x[blockIdx.x * 64 + 2 * t + 1];
    int d = 1;
#pragma unroll 1
    for (int left = 32; left > 0; left /= 2, d *= 2) {
        __syncthreads();                       // the level below is complete
        if (t < left) tree[d * (2 * t + 2) - 1] += tree[d * (2 * t + 1) - 1];
    }
    if (t == 0) tree[63] = 0;
#pragma unroll 1
    for (int left = 1; left < 64; left *= 2) {
        d /= 2;
        __syncthreads();                       // the level above is complete
        if (t < left) {
            const int a = tree[d * (2 * t + 1) - 1];
            tree[d * (2 * t + 1) - 1] = tree[d * (2 * t + 2) - 1];
            tree[d * (2 * t + 2) - 1] += a;
        }
    }
    __syncthreads();                           // all sums are there
    y[blockIdx.x * 64 + 2 * t] = tree[2 * t];
    y[blockIdx.x * 64 + 2 * t + 1] = tree[2 * t + 1];
}
