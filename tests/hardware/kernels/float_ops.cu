// float_ops.cu -- single precision, with every kind of number
//
// Computes  a row of results per operation for the pairs (a, b)
// Idea      NaN, infinities, subnormals and both zeros are among the data
// Launch    one thread per pair, blocks of 128
extern "C" __global__ void float_ops(int n, const float* a, const float* b, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    int k = 0;
    auto put = [&](float value) { out[k++ * n + i] = value; };
    put(x + y); put(x - y); put(x * y); put(x / y); put(fmaf(x, y, 1.5f)); put(fmaf(x, x, -y)); put(sqrtf(x)); put(1.0f / x);
    put(fminf(x, y)); put(fmaxf(x, y)); put(fabsf(x)); put(-x); put(copysignf(x, y));
    put(floorf(x)); put(ceilf(x)); put(truncf(x)); put(rintf(x)); put(roundf(x)); put(__saturatef(x));
    put(x < y); put(x <= y); put(x == y); put(x != y); put(!(x < y)); put(isnan(x)); put(isinf(y)); put(signbit(x));
    put(x > y ? x : y); put(fdimf(x, y)); put(ldexpf(x, 3)); put(nextafterf(x, y));
}
