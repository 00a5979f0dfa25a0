// or_short.cu -- the second condition is loaded only where the first does not hold
//
// Computes  y[i] = x[i + 1] + x[i + 2] where x[i] is odd or x[x[i] mod 64] mod 3 = 0
// Idea      || of two loads: two ways into one branch
// Launch    grid 2, block 64
extern "C" __global__ void or_short(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 2 || x[x[i] % 64] % 3 == 0) y[i] = x[i + 1] + x[i + 2];
}
