// return_inside.cu -- a return inside of one of two branches
//
// Computes  y[i] unless the thread has ended, and what its branch wrote
// Idea      those of the branch that go on meet those of the other one
// Launch    grid 2, block 64
extern "C" __global__ void return_inside(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 2) {
        y[i + 128] = x[i + 1];
        if (x[i + 1] % 3 == 0) return;
        y[i + 256] = x[i + 2];
    } else {
        y[i + 384] = x[i + 3];
    }
    y[i] = x[i + 4] + 1;
}
