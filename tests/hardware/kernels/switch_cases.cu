// switch_cases.cu -- a small virtual machine
//
// Computes  out[i] = what program i leaves, eight byte codes a program
// Idea      a switch over ten cases, which the compiler makes a jump table of
// Launch    grid 2, block 64
extern "C" __global__ void switch_cases(int n, const unsigned char* code, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i, b = 1;
    for (int k = 0; k < 8; ++k) {
        switch (code[i * 8 + k]) {
            case 0: a += b; break;
            case 1: a -= b * 3; break;
            case 2: a *= b | 1; break;
            case 3: b = a >> 2; break;
            case 4: { const int t = a; a = b; b = t; break; }
            case 5: b ^= a; break;
            case 6: a = __popc(a) + b; break;
            case 7: b += 17; [[fallthrough]];
            case 8: a = ~a; break;
            case 9: out[n + i] = a; break;
            default: k = 8;
        }
    }
    out[i] = a * 31 + b;
}
