// scan_tree.cu -- running sums up and down a tree
//
// Computes  y[i] = x[0] + ... + x[i - 1] within each block of 256 elements
// Idea      fewer additions; padded indices keep the strides out of one bank
// Launch    grid n / 256, block 128
#define AT(i) ((i) + (i) / 32)

extern "C" __global__ void scan_tree(const int* x, int* y) {
    __shared__ int tree[AT(256)];
    const int t = threadIdx.x, first = blockIdx.x * 256;
    tree[AT(t)] = x[first + t];
    tree[AT(t + 128)] = x[first + t + 128];
    int step = 1;
    for (int active = 128; active > 0; active /= 2, step *= 2) {
        __syncthreads();                       // the level below is complete
        if (t < active) tree[AT(step * (2 * t + 2) - 1)] += tree[AT(step * (2 * t + 1) - 1)];
    }
    if (t == 0) tree[AT(255)] = 0;
    for (int active = 1; active < 256; active *= 2) {
        step /= 2;
        __syncthreads();                       // the level above is complete
        if (t < active) {
            const int left = AT(step * (2 * t + 1) - 1), right = AT(step * (2 * t + 2) - 1);
            const int kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();                           // the sums are complete
    y[first + t] = tree[AT(t)];
    y[first + t + 128] = tree[AT(t + 128)];
}
