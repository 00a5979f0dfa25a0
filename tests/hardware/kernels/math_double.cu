// math_double.cu -- the math library in double precision
//
// Computes  a row per function of the positive numbers x and the numbers y
// Idea      CUDA's library code, compiled into the kernel
// Launch    one thread per element, blocks of 32
extern "C" __global__ void math_double(int n, const double* a, const double* b, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = a[i], y = b[i];
    int k = 0;
    auto put = [&](double value) { out[k++ * n + i] = value; };
    put(exp(y)); put(log(x)); put(pow(x, y)); put(sin(y)); put(cos(y)); put(tan(y)); put(sin(1000 * y)); put(atan2(x, y));
    put(tanh(y)); put(erf(y)); put(lgamma(x)); put(cbrt(y)); put(hypot(x, y)); put(fmod(y, x)); put(rsqrt(x));
}
