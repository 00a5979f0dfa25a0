// double_ops.cu -- double precision, with every kind of number
//
// Computes  a row of results per operation for the pairs (a, b)
// Idea      division and square root are library code that ends in one correct rounding
// Launch    one thread per pair, blocks of 64
extern "C" __global__ void double_ops(int n, const double* a, const double* b, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = a[i], y = b[i];
    int k = 0;
    auto put = [&](double value) { out[k++ * n + i] = value; };
    put(x + y); put(x - y); put(x * y); put(x / y); put(fma(x, y, 1.5)); put(sqrt(x)); put(1.0 / x);
    put(fmin(x, y)); put(fmax(x, y)); put(fabs(x)); put(-x); put(copysign(x, y));
    put(floor(x)); put(ceil(x)); put(trunc(x)); put(rint(x)); put(x < y); put(x == y); put(isnan(x));
    put((double)(float)x); put(x > y ? x : y);
}
