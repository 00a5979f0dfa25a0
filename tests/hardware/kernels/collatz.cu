// collatz.cu -- steps until 1
//
// Computes  steps[i] for the start i + 1
// Idea      two loops, each with a count that only the data know
// Launch    one thread per start, blocks of 100
extern "C" __global__ void collatz(int n, int* steps, unsigned long long* highest) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = i + 1, top = v;
    int k = 0;
    while (v != 1) {
        while (!(v & 1)) {
            v >>= 1;
            ++k;
        }
        if (v == 1) break;
        v = 3 * v + 1;
        ++k;
        top = max(top, v);
    }
    steps[i] = k;
    highest[i] = top;
}
