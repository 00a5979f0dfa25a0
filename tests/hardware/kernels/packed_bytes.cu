// packed_bytes.cu -- four bytes or two shorts in one register
//
// Computes  dot products of packed bytes, and the SIMD-in-a-word functions
// Idea      dp4a, dp2a and the __v functions
// Launch    one thread per pair, blocks of 64
extern "C" __global__ void packed_bytes(int n, const int* a, const int* b, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = a[i], y = b[i];
    const unsigned u = x, v = y;
    int k = 0;
    auto put = [&](int value) { out[k++ * n + i] = value; };
    put(__dp4a(x, y, 100)); put(__dp4a(u, v, 100u)); put(__dp2a_lo(x, y, -5)); put(__dp2a_hi(u, v, 9u));
    put(__vadd4(u, v)); put(__vsub2(u, v)); put(__vaddus4(u, v)); put(__vabsdiffu4(u, v)); put(__vmaxs2(u, v));
    put(__vminu4(u, v)); put(__vcmpgtu4(u, v)); put(__vseteq2(u, v)); put(__vavgu4(u, v)); put(__vsadu4(u, v));
}
