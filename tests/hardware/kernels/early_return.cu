// early_return.cu -- threads that leave early, warps that leave whole
//
// Computes  y[i] = sum of squares up to x[i], untouched where x[i] < 0 or i >= n
// Idea      a lane that has left counts no more
// Launch    grid 2, block 100
extern "C" __global__ void early_return(int n, const int* x, int* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int last = x[i];
    if (last < 0) return;
    int sum = 0;
    for (int k = 1; ; ++k) {
        if (k > last) {
            y[i] = sum;
            return;
        }
        sum += k * k;
        if (sum > 5000) break;
    }
    y[i] = -sum;
}
