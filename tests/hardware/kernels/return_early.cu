// return_early.cu -- returns before, between and behind stores
//
// Computes  y[i], y[i + 128], y[i + 256] as far as thread i comes
// Idea      lanes end one after another; there is no loop
// Launch    grid 2, block 64
extern "C" __global__ void return_early(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x, v = x[i] % 4;
    if (v == 0) return;
    y[i] = x[i + 1];
    if (v == 1) return;
    y[i + 128] = x[i + 2];
    if (v == 2) return;
    y[i + 256] = x[i + 3];
}
