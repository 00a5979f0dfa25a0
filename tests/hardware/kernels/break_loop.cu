// break_loop.cu -- a loop that ends where something is found
//
// Computes  y[i] = the first k < 20 with x[i + k] mod 7 = 0, or 20
// Idea      break in lanes at different times, then a store for all
// Launch    grid 2, block 64
extern "C" __global__ void break_loop(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    int k = 0;
    for (; k < 20; ++k)
        if (x[i + k] % 7 == 0) break;
    y[i] = k;
}
