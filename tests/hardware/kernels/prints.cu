// prints.cu -- printf and assert
//
// Computes  y[i] = 2 x[i]; thread 5 prints, the assertions hold
// Idea      output from a kernel
// Launch    grid 1, block 32
extern "C" __global__ void prints(const int* x, int* y) {
    const int i = threadIdx.x;
    assert(x[i] >= 0);
    y[i] = 2 * x[i];
    if (i == 5) printf("thread %d of %d: %s %.3f %lld\n", i, blockDim.x, "five", 1.5 * x[i], 1ll << 40);
}
