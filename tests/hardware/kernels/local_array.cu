// local_array.cu -- an array of each thread's own, indexed by data
//
// Computes  y[i] = the digits of x[i] sorted by counting, read back as a number
// Idea      an array whose index is not known at compile time lies in local memory
// Launch    grid 2, block 64
extern "C" __global__ void local_array(int n, const unsigned* x, unsigned* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char count[10];
    for (int d = 0; d < 10; ++d) count[d] = 0;
    for (unsigned v = x[i]; v; v /= 10) ++count[v % 10];
    unsigned r = 0;
    for (int d = 0; d < 10; ++d)
        for (int k = 0; k < count[d]; ++k) r = r * 10 + d;
    y[i] = r;
}
