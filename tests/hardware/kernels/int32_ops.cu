// int32_ops.cu -- 32-bit integer arithmetic
//
// Computes  a row of results per operation for the pairs (a, b)
// Idea      every operation the hardware has, signed limits among the data
// Launch    one thread per pair, blocks of 128
extern "C" __global__ void int32_ops(int n, const int* a, const int* b, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = a[i], y = b[i];
    const unsigned u = x, v = y;
    int k = 0;
    auto put = [&](int value) { out[k++ * n + i] = value; };
    put(u + v); put(u - v); put(u * v);
    put(y == 0 || (y == -1 && u == 0x80000000u) ? 0 : x / y);
    put(y == 0 || (y == -1 && u == 0x80000000u) ? 0 : x % y);
    put(v == 0 ? 0 : u / v); put(v == 0 ? 0 : u % v);
    put(x / 7); put(x % 10); put(u / 1000u);
    put(__mulhi(x, y)); put(__umulhi(u, v)); put(__mul24(x, y)); put(__umul24(u, v));
    put(x >> (v & 31)); put(u >> (v & 31)); put(u << (v & 31));
    put(x & y); put(x | y); put(x ^ y); put(~x); put((x & y) | (~x & ~y));
    put(min(x, y)); put(max(x, y)); put(min(u, v)); put(max(u, v));
    put(__popc(u)); put(__clz(x)); put(__ffs(x)); put(__brev(u));
    put(__byte_perm(u, v, u & 0x7777)); put(__funnelshift_l(u, v, u)); put(__funnelshift_rc(u, v, v & 63));
    put(__sad(x, y, 5)); put(__usad(u, v, 7)); put(__hadd(x, y)); put(__rhadd(x, y)); put(__uhadd(u, v));
    put(x < y ? x : -3); put((x < y) + 2 * (u < v) + 4 * (x == y));
    put((u >> 5) & 0x3ff); put((u & ~0xff00u) | (v & 0xffu) << 8);
}
