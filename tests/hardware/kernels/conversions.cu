// conversions.cu -- from every type of number to others
//
// Computes  rows of integers from floating-point numbers, and of floating-point numbers from integers
// Idea      values out of range and NaN have defined results
// Launch    one thread per element, blocks of 64
extern "C" __global__ void conversions(int n, const float* a, const double* b, const long long* c, long long* out, double* back) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i];
    const double y = b[i];
    const long long z = c[i];
    int k = 0, m = 0;
    auto put = [&](long long value) { out[k++ * n + i] = value; };
    auto putd = [&](double value) { back[m++ * n + i] = value; };
    put(__float2int_rn(x)); put(__float2int_rz(x)); put(__float2int_ru(x)); put(__float2int_rd(x));
    put(__float2uint_rn(x)); put(__float2uint_rz(x)); put(__float2ll_rn(x)); put(__float2ll_rd(x)); put(__float2ull_rz(x));
    put(__double2int_rn(y)); put(__double2int_rz(y)); put(__double2uint_ru(y)); put(__double2ll_rz(y)); put(__double2ull_rn(y));
    put(__double2hiint(y)); put(__double2loint(y)); put(__float_as_int(x)); put((long long)(short)(int)z); put((long long)(unsigned char)z);
    putd((float)(int)z); putd((float)(unsigned)z); putd((float)z); putd((float)(unsigned long long)z);
    putd((int)z); putd(z); putd((unsigned long long)z); putd(x); putd((float)y); putd(__int2float_rd((int)z)); putd(__uint2float_ru((unsigned)z));
}
