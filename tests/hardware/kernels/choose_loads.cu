// choose_loads.cu -- one of two elements
//
// Computes  y[i] = x[i + 1] where x[i] is odd, else x[2 i]; y[i + 128] of a choice between three
// Idea      ?: of loads, which the assembler may make without branches
// Launch    grid 2, block 64
extern "C" __global__ void choose_loads(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x, v = x[i];
    y[i] = v % 2 ? x[i + 1] : x[2 * i];
    y[i + 128] = v % 3 == 0 ? x[i + 3] : v % 3 == 1 ? x[3 * i] : v;
}
