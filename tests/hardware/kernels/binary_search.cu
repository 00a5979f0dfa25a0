// binary_search.cu -- where a key belongs in a sorted array
//
// Computes  at[i] = number of elements of sorted[] below key[i]
// Idea      loads that depend on loads
// Launch    grid 2, block 64
extern "C" __global__ void binary_search(int n, const float* sorted, int keys, const float* key, int* at) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= keys) return;
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key[i]) low = middle + 1;
        else high = middle;
    }
    at[i] = low;
}
