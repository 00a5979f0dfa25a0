// narrow_ops.cu -- 8- and 16-bit integers
//
// Computes  rows of results in the narrow types
// Idea      C++ computes in int and cuts the result off; loads extend by sign or by zero
// Launch    one thread per pair, blocks of 64
extern "C" __global__ void narrow_ops(int n, const signed char* a, const signed char* b, const short* c, const short* d,
                                      signed char* bytes, unsigned short* shorts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const signed char x = a[i], y = b[i];
    const unsigned char u = x, v = y;
    const short s = c[i], t = d[i];
    const unsigned short p = s, q = t;
    int k = 0, m = 0;
    auto put8 = [&](signed char value) { bytes[k++ * n + i] = value; };
    auto put16 = [&](unsigned short value) { shorts[m++ * n + i] = value; };
    put8(x + y); put8(x * y); put8(u >> 3); put8(x >> 3); put8(x / (y | 1)); put8(u % (v | 1)); put8(min(x, y)); put8(u < v);
    put16(s + t); put16(s * t); put16(p * q >> 16); put16(s / (t | 1)); put16(p % (q | 1)); put16(s >> 4); put16(p >> 4);
    put16(max(s, t)); put16((short)x * s); put16(__popc(p)); put16(u << 8 | v); put16(s < t ? p : q);
}
