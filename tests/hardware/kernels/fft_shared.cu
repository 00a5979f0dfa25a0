// fft_shared.cu -- a Fourier transform of 128 points a block
//
// Computes  y = FFT(x), complex
// Idea      seven passes over shared memory; twiddle factors from a table
// Launch    grid rows, block 64
extern "C" __global__ void fft_shared(const float2* twiddle, const float2* x, float2* y) {
    __shared__ float2 a[128];
    const int t = threadIdx.x;
    for (int k = t; k < 128; k += 64) a[__brev(k) >> 25] = x[blockIdx.x * 128 + k];
    for (int half = 1; half < 128; half *= 2) {
        __syncthreads();                       // the last pass is complete
        const int j = t % half, at = t / half * 2 * half + j;
        const float2 w = twiddle[j * (64 / half)], u = a[at], v = a[at + half];
        const float2 p = make_float2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        a[at] = make_float2(u.x + p.x, u.y + p.y);
        a[at + half] = make_float2(u.x - p.x, u.y - p.y);
    }
    __syncthreads();                           // the transform is complete
    for (int k = t; k < 128; k += 64) y[blockIdx.x * 128 + k] = a[k];
}
