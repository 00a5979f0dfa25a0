// goto_over.cu -- a goto out of two conditions
//
// Computes  y[i], y[i + 128], y[i + 256] of a thread's way
// Idea      ways that meet at two places behind each other
// Launch    grid 2, block 64
extern "C" __global__ void goto_over(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 3 == 0) {
        y[i + 128] = x[i + 1];
        if (x[i + 1] % 2) goto end;
        y[i + 256] = x[i + 2];
    }
    y[i] = x[i + 3];
end:
    y[i + 384] = x[i + 4];
}
