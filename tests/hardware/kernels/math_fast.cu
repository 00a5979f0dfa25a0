// math_fast.cu -- the hardware's approximate functions
//
// Computes  a row per function of the positive numbers x and the numbers y
// Idea      one instruction each, a few ulps off
// Launch    one thread per element, blocks of 64
extern "C" __global__ void math_fast(int n, const float* a, const float* b, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    int k = 0;
    auto put = [&](float value) { out[k++ * n + i] = value; };
    put(__expf(y)); put(exp2f(y)); put(__logf(x)); put(__log2f(x)); put(__sinf(y)); put(__cosf(y)); put(__powf(x, y));
    put(__fdividef(y, x)); put(rsqrtf(x)); put(__frsqrt_rn(x)); put(__tanf(y / 8));
}
