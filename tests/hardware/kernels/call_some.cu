// call_some.cu -- a function that only some lanes call
//
// Computes  y[i] = sum of 3 elements where x[i] is odd, else x[i]
// Idea      loads and returns inside of a function that is not put in place
// Launch    grid 2, block 64
__device__ __noinline__ int three(const int* x, int i) {
    const int a = x[i], b = x[i + 1];
    if (a > b) return a + b;
    return a + b + x[i + 2];
}

extern "C" __global__ void call_some(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    int r = x[i];
    if (r % 2) r = three(x, i);
    y[i] = r;
}
