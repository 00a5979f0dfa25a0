// half_ops.cu -- half precision, one by one and packed by two
//
// Computes  rows of results, as bits, for the pairs (a, b) of half2
// Idea      each operation rounds once to 11 bits
// Launch    one thread per pair, blocks of 64
#include <cuda_fp16.h>

extern "C" __global__ void half_ops(int n, const __half2* a, const __half2* b, __half2* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 x = a[i], y = b[i];
    int k = 0;
    auto put = [&](__half2 value) { out[k++ * n + i] = value; };
    put(__hadd2(x, y)); put(__hsub2(x, y)); put(__hmul2(x, y)); put(__hfma2(x, y, x)); put(__hneg2(x)); put(__habs2(x));
    put(__hmin2(x, y)); put(__hmax2(x, y)); put(__hlt2(x, y)); put(__heq2(x, y)); put(__hadd2_sat(x, y));
    put(__halves2half2(__hadd(x.x, y.y), __hmul(x.y, y.x))); put(__halves2half2(__hfma(x.x, y.x, y.y), __hsub(x.x, x.y)));
    put(__float22half2_rn(make_float2(__half2float(x.x) * 0.1f, __half2float(y.y) + 0.3f)));
    put(__halves2half2(__float2half_rz(__half2float(x.x) / 3), __float2half_ru(__half2float(x.y) / 3)));
    put(__lowhigh2highlow(x)); put(__lows2half2(x, y)); put(__halves2half2(__int2half_rn(i * 37 - 900), __uint2half_rn(i * 1001)));
    put(__halves2half2(__hlt(x.x, y.x) ? x.x : y.x, __hisnan(x.y) ? y.y : x.y));
}
