// rounding.cu -- directed rounding
//
// Computes  sums, products, quotients, roots and conversions, rounded in each of the four directions
// Idea      intervals: the downward result is never above the upward one
// Launch    one thread per pair, blocks of 64
extern "C" __global__ void rounding(int n, const float* a, const float* b, const double* c, const double* d, float* f, double* g) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i], w = fabsf(x);
    const double s = c[i], t = d[i], r = fabs(s);
    int k = 0, m = 0;
    auto put = [&](float value) { f[k++ * n + i] = value; };
    auto putd = [&](double value) { g[m++ * n + i] = value; };
    put(__fadd_rn(x, y)); put(__fadd_rz(x, y)); put(__fadd_ru(x, y)); put(__fadd_rd(x, y));
    put(__fmul_rn(x, y)); put(__fmul_rz(x, y)); put(__fmul_ru(x, y)); put(__fmul_rd(x, y));
    put(__fmaf_rn(x, y, 0.3f)); put(__fmaf_rz(x, y, 0.3f)); put(__fmaf_ru(x, y, 0.3f)); put(__fmaf_rd(x, y, 0.3f));
    put(__fdiv_rz(x, y)); put(__fdiv_ru(x, y)); put(__fdiv_rd(x, y)); put(__fsqrt_rz(w)); put(__fsqrt_ru(w)); put(__fsqrt_rd(w));
    put(__frcp_ru(x)); put(__frcp_rd(x));
    put(__double2float_rz(s)); put(__double2float_ru(s)); put(__double2float_rd(s)); put(__int2float_rz(__float_as_int(x)));
    putd(__dadd_rz(s, t)); putd(__dadd_ru(s, t)); putd(__dadd_rd(s, t));
    putd(__dmul_rz(s, t)); putd(__dmul_ru(s, t)); putd(__dmul_rd(s, t));
    putd(__fma_rz(s, t, 0.3)); putd(__fma_ru(s, t, 0.3)); putd(__fma_rd(s, t, 0.3));
    putd(__ddiv_ru(s, t)); putd(__ddiv_rd(s, t)); putd(__dsqrt_ru(r)); putd(__dsqrt_rd(r));
    putd(__ll2double_ru(__double_as_longlong(s))); putd(__ll2double_rd(__double_as_longlong(s)));
}
