// call_table.cu -- calls through a table, another function in every lane
//
// Computes  y[i] = table[x[i] mod 3](x[i], i), twice that behind it
// Idea      a store right behind a call that splits the warp
// Launch    grid 2, block 64
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }

using Function = int (*)(int, int);
__device__ const Function table[3] = {add, subtract, multiply};

extern "C" __global__ void call_table(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    const int r = table[x[i] % 3](x[i], i);
    y[i] = r;
    y[i + 128] = 2 * r;
}
