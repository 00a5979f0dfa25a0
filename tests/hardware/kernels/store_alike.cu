// store_alike.cu -- both branches end with the same store
//
// Computes  y[i] = x[i + 1] + x[i] x[i], or x[2 i] - 1
// Idea      the compiler may write one store for both, or one for each
// Launch    grid 2, block 64
extern "C" __global__ void store_alike(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 2) {
        const int a = x[i + 1];
        y[i] = a + x[i] * x[i];
    } else {
        const int b = x[2 * i];
        y[i] = b - 1;
    }
}
