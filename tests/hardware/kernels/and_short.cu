// and_short.cu -- the second condition is loaded only where the first holds
//
// Computes  y[i] = x[i + 1] where x[i] is odd and x[x[i] mod 64] mod 3 = 0
// Idea      && of two loads
// Launch    grid 2, block 64
extern "C" __global__ void and_short(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 2 && x[x[i] % 64] % 3 == 0) y[i] = x[i + 1];
}
