// sort_insertion.cu -- each thread's 8 keys in order
//
// Computes  y[8 i ...] = x[8 i ...] in order
// Idea      the inner loop ends when the key's place is found
// Launch    grid n / 256, block 32
extern "C" __global__ void sort_insertion(const int* x, int* y) {
    __shared__ int keys[8][33];
    const int t = threadIdx.x, first = 8 * (blockIdx.x * 32 + t);
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
        const int key = x[first + k];
        int at = k;
        while (at > 0 && keys[at - 1][t] > key) {
            keys[at][t] = keys[at - 1][t];
            --at;
        }
        keys[at][t] = key;
    }
    for (int k = 0; k < 8; ++k) y[first + k] = keys[k][t];
}
