// bfloat_ops.cu -- bfloat16, one by one and packed by two
//
// Computes  rows of results, as bits, for the pairs (a, b) of bfloat162
// Idea      each operation rounds once to 8 bits
// Launch    one thread per pair, blocks of 64
#include <cuda_bf16.h>

extern "C" __global__ void bfloat_ops(int n, const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __nv_bfloat162 x = a[i], y = b[i];
    int k = 0;
    auto put = [&](__nv_bfloat162 value) { out[k++ * n + i] = value; };
    put(__hadd2(x, y)); put(__hsub2(x, y)); put(__hmul2(x, y)); put(__hfma2(x, y, x)); put(__hneg2(x)); put(__habs2(x));
    put(__hmin2(x, y)); put(__hmax2(x, y)); put(__hlt2(x, y)); put(__hge2(x, y));
    put(__halves2bfloat162(__hadd(x.x, y.y), __hmul(x.y, y.x)));
    put(__floats2bfloat162_rn(__bfloat162float(x.x) * 0.1f, __bfloat162float(y.y) + 0.3f));
    put(__halves2bfloat162(__float2bfloat16_rz(__bfloat162float(x.x) / 3), __float2bfloat16_rn(__bfloat162float(x.y) / 3)));
}
