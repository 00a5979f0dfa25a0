// sort_steps.cu -- one step of a bitonic network in global memory
//
// Computes  y = x with a[i], a[i ^ 8] exchanged where they are out of order
// Idea      no shared memory; both stores or none
// Launch    grid n / 64, block 64
extern "C" __global__ void sort_steps(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x, other = i ^ 8;
    if (other > i) {
        const int a = x[i], b = x[other];
        if ((a > b) == ((i & 16) == 0)) {
            y[i] = b;
            y[other] = a;
        } else {
            y[i] = a;
            y[other] = b;
        }
    }
}
