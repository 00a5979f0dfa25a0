// recursion.cu -- functions that call themselves
//
// Computes  out[i] = Fibonacci(i mod 12), out[n + i] = Ackermann(2, i mod 4), depths that differ by lane
// Idea      a stack per thread
// Launch    grid 1, block 40
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int n, int* out) {
    const int i = threadIdx.x;
    if (i >= n) return;
    out[i] = fibonacci(i % 12);
    out[n + i] = ackermann(2, i % 4);
}
