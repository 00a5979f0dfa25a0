// fused.cuh -- the sums of products of a tensor core

// D = A * B + C as an H200 adds it up: the products are exact; they and C are aligned to the largest exponent among them and cut
// off 25 bits behind its point; the sum of what is left is exact, and is cut off (float) or rounded to nearest even (half) at the
// end. Exponents are those of the factors added up, so that a product's significand is in [1, 4). Source: P. Xie et al., "MMA-Sim:
// Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv:2511.10909, and F. Khattak, M. Mikaitis, "Accurate Models
// of NVIDIA Tensor Cores", arXiv:2512.07004.

enum FactorKind { HALF, BFLOAT, TF32, DOUBLE, INTEGER, E4M3, E5M2, S8, U8 };
enum Special { FINITE, INFINITE, NOT_A_NUMBER };
enum { GUARD = 25, GUARD_OF_EIGHTS = 13, LEAST = -126 };   // bits kept behind the point

struct Part { int significand, exponent; u32 special; };   // significand * 2^(exponent - fraction bits); infinite: its sign

__device__ __noinline__ void unpack(Part* p, u32 bits, u32 fraction, u32 width) {
    const u32 most = (1u << (width - 1 - fraction)) - 1, bias = most / 2;
    const u32 e = bits >> fraction & most, m = bits & ((1u << fraction) - 1), negative = bits >> (width - 1) & 1;
    p->special = e != most ? FINITE : m ? NOT_A_NUMBER : INFINITE;
    p->exponent = (int)(e ? e : 1) - (int)bias;
    const int s = e == most ? 1 : e ? (int)(m | 1u << fraction) : (int)m;
    p->significand = negative ? -s : s;
}

__device__ __forceinline__ u64 shift_right(u64 value, u32 by) { return by > 63 ? 0 : value >> by; }

// value * 2^exponent in single precision, cut off.
__device__ __noinline__ u32 to_float(i64 value, int exponent) {
    const u32 sign = value < 0 ? 0x80000000u : 0;
    const u64 v = value < 0 ? -value : value;
    if (!v) return 0;
    const int top = 63 - __clzll(v), e = top + exponent;
    if (e > 127) return sign | 0x7f800000u;
    const int unit = e < LEAST ? -149 : e - 23, by = unit - exponent;
    const u32 m = by > 0 ? shift_right(v, by) : v << -by;
    return sign | (e < LEAST ? m : (u32)(e + 127) << 23 | (m & 0x7fffff));
}

// value * 2^exponent in half precision, to nearest even.
__device__ __noinline__ u32 to_half(i64 value, int exponent) {
    const u32 sign = value < 0 ? 0x8000u : 0;
    const u64 v = value < 0 ? -value : value;
    if (!v) return 0;
    const int top = 63 - __clzll(v), e = top + exponent;
    if (e > 15) return sign | 0x7c00u;
    const int unit = e < -14 ? -24 : e - 10, by = unit - exponent;
    if (by > 62) return sign;
    u64 m = by > 0 ? v >> by : v << -by;
    if (by > 0) {
        const u64 rest = v & ((1ull << by) - 1), half = 1ull << (by - 1);
        m += rest > half || (rest == half && (m & 1));
    }
    return sign | (u32)(e < -14 ? m : ((u64)(e + 14) << 10) + m);
}

__device__ __noinline__ u32 half_to_float(u32 bits) {
    Part p;
    unpack(&p, bits, 10, 16);
    if (p.special == NOT_A_NUMBER) return 0x7fffffffu;
    const u32 sign = (bits & 0x8000u) << 16;
    if (p.special == INFINITE) return sign | 0x7f800000u;
    return p.significand ? to_float(p.significand, p.exponent - 10) : sign;
}

__device__ __noinline__ u32 float_to_half(u32 bits) {
    Part p;
    unpack(&p, bits, 23, 32);
    if (p.special == NOT_A_NUMBER) return 0x7fffu;
    const u32 sign = bits >> 16 & 0x8000u;
    if (p.special == INFINITE) return sign | 0x7c00u;
    return p.significand ? to_half(p.significand, p.exponent - 23) : sign;
}

// A sum with an infinity or a NaN among its factors or C: what exact arithmetic makes of it.
__device__ __noinline__ u32 special_sum(const Part* a, const Part* b, const Part* c, u32 n, u32 half) {
    const u32 nan = half ? 0x7fffu : 0x7fffffffu, inf = half ? 0x7c00u : 0x7f800000u, sign = half ? 0x8000u : 0x80000000u;
    u32 plus = c->special == INFINITE && c->significand > 0, minus = c->special == INFINITE && c->significand < 0;
    u32 bad = c->special == NOT_A_NUMBER;
#pragma unroll 1
    for (u32 i = 0; i < n; ++i) {
        if (a[i].special == FINITE && b[i].special == FINITE) continue;
        const i64 p = (i64)a[i].significand * b[i].significand;
        bad |= a[i].special == NOT_A_NUMBER || b[i].special == NOT_A_NUMBER || p == 0;
        plus |= p > 0;
        minus |= p < 0;
    }
    return bad || (plus && minus) ? nan : plus ? inf : inf | sign;
}

// One sum of n products and C. `bits`: of the fractions of two factors together; `guard`: kept behind the point.
__device__ __noinline__ u32 fused_sum(const Part* a, const Part* b, const Part* c, u32 n, int bits, int c_bits, u32 half, int guard) {
    int top = LEAST;
    u32 special = c->special;
    if (c->significand && c->exponent > top) top = c->exponent;
#pragma unroll 1
    for (u32 i = 0; i < n; ++i) {
        const int e = a[i].exponent + b[i].exponent;
        special |= a[i].special | b[i].special;
        if (e > top && a[i].significand && b[i].significand) top = e;
    }
    if (special) return special_sum(a, b, c, n, half);
    i64 sum = 0;
    const int by = c->exponent - top + guard - c_bits, size = c->significand < 0 ? -c->significand : c->significand;
    if (size) {
        const i64 part = by >= 0 ? (i64)size << by : by < -31 ? 0 : size >> -by;
        sum = c->significand < 0 ? -part : part;
    }
#pragma unroll 1
    for (u32 i = 0; i < n; ++i) {
        const int p = a[i].significand * b[i].significand, s = a[i].exponent + b[i].exponent - top + guard - bits;
        const int v = p < 0 ? -p : p, part = !v || s < -31 ? 0 : s >= 0 ? v << s : v >> -s;
        sum += p < 0 ? -part : part;
    }
    return half ? to_half(sum, top - guard) : to_float(sum, top - guard);
}
