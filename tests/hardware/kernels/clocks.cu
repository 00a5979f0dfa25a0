// clocks.cu -- the clocks run forward
//
// Computes  ok[i] = 1 where the second reading of each clock is later than the first
// Idea      a clock is a counter; only its direction is compared
// Launch    grid 2, block 64
extern "C" __global__ void clocks(const int* x, int* ok, int* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const long long first = clock64();
    int v = x[i];
    for (int k = 0; k < 20; ++k) v = v * 1664525 + 1013904223;
    y[i] = v;
    const long long second = clock64();
    ok[i] = second > first;
}
