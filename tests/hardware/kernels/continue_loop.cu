// continue_loop.cu -- a loop that passes over elements
//
// Computes  y[i] = sum of x[i + k] y0[k] over the k < 12 with odd x[i + k]
// Idea      continue in some lanes; all run the loop equally often
// Launch    grid 2, block 64
extern "C" __global__ void continue_loop(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 12; ++k) {
        const int v = x[i + k];
        if (v % 2 == 0) continue;
        sum += v * x[v % 64];
    }
    y[i] = sum;
}
