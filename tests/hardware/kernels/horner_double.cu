// horner_double.cu -- a polynomial in double precision
//
// Computes  y[i] = c[0] + c[1] x[i] + ... + c[9] x[i]^9
// Idea      a chain of fused multiply-adds, coefficients the same for all lanes
// Launch    one thread per element, blocks of 64
extern "C" __global__ void horner_double(int n, const double* __restrict__ c, const double* __restrict__ x, double* __restrict__ y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = c[9];
    for (int k = 8; k >= 0; --k)
        sum = sum * x[i] + c[k];
    y[i] = sum;
}
