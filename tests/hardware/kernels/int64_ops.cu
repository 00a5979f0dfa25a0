// int64_ops.cu -- 64-bit integer arithmetic
//
// Computes  a row of results per operation for the pairs (a, b)
// Idea      the hardware makes each of them out of 32-bit steps
// Launch    one thread per pair, blocks of 64
extern "C" __global__ void int64_ops(int n, const long long* a, const long long* b, long long* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long x = a[i], y = b[i];
    const unsigned long long u = x, v = y;
    int k = 0;
    auto put = [&](long long value) { out[k++ * n + i] = value; };
    put(u + v); put(u - v); put(u * v);
    put(y == 0 || y == -1 ? 0 : x / y); put(y == 0 || y == -1 ? 0 : x % y);
    put(v == 0 ? 0 : u / v); put(v == 0 ? 0 : u % v);
    put(x / 10); put(u % 1000000007ull);
    put(__mul64hi(x, y)); put(__umul64hi(u, v));
    put(x >> (v & 63)); put(u >> (v & 63)); put(u << (v & 63));
    put(x & y); put(x | y); put(x ^ y); put(~x);
    put(min(x, y)); put(max(u, v)); put(llabs(x >> 1));
    put(__popcll(u)); put(__clzll(x)); put(__ffsll(x)); put(__brevll(u));
    put(x < y); put(u < v); put((long long)(int)x * (int)y); put((unsigned long long)(unsigned)u * (unsigned)v);
}
