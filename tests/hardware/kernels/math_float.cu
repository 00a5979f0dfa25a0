// math_float.cu -- the math library in single precision
//
// Computes  a row per function of the positive numbers x and the numbers y
// Idea      CUDA's library code, compiled into the kernel
// Launch    one thread per element, blocks of 64
extern "C" __global__ void math_float(int n, const float* a, const float* b, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    int k = 0;
    auto put = [&](float value) { out[k++ * n + i] = value; };
    put(expf(y)); put(exp2f(y)); put(expm1f(y)); put(logf(x)); put(log2f(x)); put(log1pf(x)); put(powf(x, y)); put(cbrtf(y));
    put(sinf(y)); put(cosf(y)); put(tanf(y)); put(sinf(1000 * y)); put(asinf(y / 8)); put(atanf(y)); put(atan2f(x, y));
    put(sinhf(y)); put(tanhf(y)); put(erff(y)); put(tgammaf(x)); put(rsqrtf(x)); put(hypotf(x, y)); put(fmodf(y, x)); put(sinpif(y));
}
