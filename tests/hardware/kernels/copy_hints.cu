// copy_hints.cu -- loads and stores with cache hints
//
// Computes  y[i] = the sum of seven ways to load x[i], stored in four ways
// Idea      a hint changes where data stay, not what is counted
// Launch    grid 2, block 64
extern "C" __global__ void copy_hints(const int* __restrict__ x, volatile int* v, int* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = __ldg(x + i) + __ldcg(x + n + i) + __ldca(x + 2 * n + i) + __ldcs(x + 3 * n + i) + __ldlu(x + 4 * n + i)
                    + __ldcv(x + 5 * n + i) + v[i];
    __stwb(y + i, sum);
    __stcg(y + n + i, sum + 1);
    __stcs(y + 2 * n + i, sum + 2);
    __stwt(y + 3 * n + i, sum + 3);
    v[i] = sum;
}
