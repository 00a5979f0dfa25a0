// loop_own_length.cu -- loops of a length of their own
//
// Computes  y[i] = x[i] + ... + x[i + x[i] mod 9]
// Idea      lanes leave a loop one after another, then load and store together
// Launch    grid 2, block 64
extern "C" __global__ void loop_own_length(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x, last = x[i] % 9;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k <= last; ++k) sum += x[i + k];
    y[i] = sum + x[i + 1];
}
