// nested_ifs.cu -- conditions in conditions, with stores at every level
//
// Computes  y[i + 128 level] of the levels that a thread enters
// Idea      three levels of branches that all end at different places
// Launch    grid 2, block 64
extern "C" __global__ void nested_ifs(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x, v = x[i];
    if (v & 1) {
        y[i] = x[i + 1];
        if (v & 2) {
            y[i + 128] = x[i + 2];
            if (v & 4) y[i + 256] = x[i + 3];
            else y[i + 384] = x[i + 4];
            y[i + 512] = x[i + 5];
        }
        y[i + 640] = x[i + 6];
    }
    y[i + 768] = x[i + 7];
}
