// switch_dense.cu -- twelve cases, each with a load and a store of its own
//
// Computes  y[i], y[i + 128 * (1 + x[i] mod 12)]
// Idea      a table of jumps, or a tree of comparisons
// Launch    grid 2, block 64
extern "C" __global__ void switch_dense(const int* x, int* y) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    int r = i;
    switch (x[i] % 12) {
    case 0: y[i + 128] = x[i + 1]; r += 1; break;
    case 1: y[i + 256] = x[i + 2] * 3; r *= 2; break;
    case 2: y[i + 384] = x[i + 3] - 5; r -= 7; break;
    case 3: y[i + 512] = x[i + 4] ^ 5; r ^= 9; break;
    case 4: y[i + 640] = x[i + 5] & 6; r |= 5; break;
    case 5: y[i + 768] = x[i + 6] | 9; r += 11; break;
    case 6: y[i + 896] = x[i + 7] + 4; r *= 13; break;
    case 7: y[i + 1024] = x[i + 8] * 5; r -= 1; break;
    case 8: y[i + 1152] = x[i + 9] - 8; r ^= 15; break;
    case 9: y[i + 1280] = x[i + 10] ^ 3; r |= 8; break;
    case 10: y[i + 1408] = x[i + 11] & 7; r += 21; break;
    default: y[i + 1536] = x[i + 12] | 2; r *= 3; break;
    }
    y[i] = r;
}
