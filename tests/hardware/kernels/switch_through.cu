// switch_through.cu -- cases that fall through to the next
//
// Computes  y[i] by x[i] mod 6
// Idea      lanes that come from the case before are not brought together with those that jump there
// Launch    grid 2, block 64
extern "C" __global__ void switch_through(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    int r = 0;
    switch (x[i] % 6) {
    case 0: r += x[i + 1];
    case 1: r += x[i + 2] * 3;
    case 2: r ^= x[i + 3]; break;
    case 3: r = x[2 * i];
    case 4: y[i + 128] = r + x[i + 4]; break;
    default: r = 7;
    }
    y[i] = r;
}
