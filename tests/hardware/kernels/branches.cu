// branches.cu -- branches inside branches
//
// Computes  y[i] by a decision tree over x[i]
// Idea      the lanes of a warp take up to six ways and meet again
// Launch    grid 3, block 64
extern "C" __global__ void branches(int n, const int* x, int* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int v = x[i];
    int r = 0;
    if (v & 1) {
        if (v & 2) {
            for (int k = 0; k < (v & 7); ++k) r += x[(i + k) % n];
        } else {
            r = y[i] * 3;
        }
        r ^= v;
    } else if (v % 3 == 0) {
        r = v > 50 ? x[(i * 7) % n] : -y[(i * 5) % n];
    } else {
        int k = v;
        do {
            r = r * 2 + k;
            k -= 9;
        } while (k > 0);
    }
    y[n + i] = r;
}
