// split_parts.cu -- every float32 of a matrix as the sum of three bfloat16, in a pass of its own
//
// Computes  parts[3,rows,cols], whose sum over the first axis is X[rows,cols]      row-major; X float32, parts bfloat16 (16 bits)
// Idea      each element is split once; a product that splits A's tile does so again for every tile of C beside it
// Launch    grid (ceil(rows * ceil(cols/4) / threads)), block threads: each has four neighbours of a row
// Shared    none
// Strides   ldx, ld: elements from one row to the next; a part begins rows * ld elements after the one before
// Edges     any rows, cols and strides; what lies below 2^-133 is lost; infinities and NaN are in the first part alone
// Lesson    none yet      Next  sgemm_parts.cu
#include "load4.cuh"

// The nearest bfloat16, ties to the even one; beyond the largest the number is cut instead, so that no finite one becomes infinity.
__device__ __forceinline__ unsigned short nearest(float x) {
    const unsigned bits = __float_as_uint(x), rounded = bits + 0x7fff + (bits >> 16 & 1);
    if (isnan(x)) return bits >> 16 & 0x8000 | 0x7fc0;
    return ((rounded & 0x7f800000) == 0x7f800000 ? bits : rounded) >> 16;
}

extern "C" __global__ void
split_parts(int rows, int cols, const float* __restrict__ X, int ldx, unsigned short* __restrict__ parts, int ld) {
    const unsigned vectors = (cols + 3u) / 4, n = blockIdx.x * blockDim.x + threadIdx.x;       // of a row; which one of all
    if (n / vectors >= rows) return;
    const int row = n / vectors, col = n % vectors * 4;
    const float4 four = load4(X + (size_t)row * ldx + col, cols - col, aligned16(X, ldx));
    float x[4] = {four.x, four.y, four.z, four.w};
    const bool whole = cols - col >= 4 && reinterpret_cast<size_t>(parts) % 8 == 0 && ld % 4 == 0;
    for (int part = 0; part < 3; ++part) {
        unsigned short* p = parts + (size_t)part * rows * ld + (size_t)row * ld + col;
        unsigned short y[4];
        for (int i = 0; i < 4; ++i) {
            y[i] = nearest(x[i]);
            x[i] = isfinite(x[i]) ? x[i] - __uint_as_float(y[i] << 16) : 0;                    // exactly what is left
        }
        if (whole) *reinterpret_cast<ushort4*>(p) = make_ushort4(y[0], y[1], y[2], y[3]);
        else for (int i = 0; i < 4 && col + i < cols; ++i) p[i] = y[i];
    }
}
