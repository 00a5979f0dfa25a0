// call_one.cu -- calls through a table, the same function in all lanes of a warp
//
// Computes  y[i] = table[x[i / 32] mod 3](x[i], i)
// Idea      the warp is never split
// Launch    grid 2, block 64
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }

using Function = int (*)(int, int);
__device__ const Function table[3] = {add, subtract, multiply};

extern "C" __global__ void call_one(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = table[x[i / 32] % 3](x[i], i);
}
