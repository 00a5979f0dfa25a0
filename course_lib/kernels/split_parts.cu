// split_parts.cu -- every float32 of a matrix as the sum of three bfloat16, scaled by a power of two that its row or its column shares
//
// Computes  parts[3,rows,cols], whose sum over the first axis is X[rows,cols] * 2^shift, and shifts      row-major; parts bfloat16 (16 bits)
// Idea      a line (row of A, column of B) is moved to where bfloat16 has most room; each element is split once, not for every tile of C
// Launch    grid (ceil(lines / 32)), block 1024; a block reads 32 lines twice
// Shared    256 bytes per block
// Strides   ldx, ld: elements from one row to the next; a part begins rows * ld elements after the one before
// Edges     any rows, cols and strides; a line with an infinity, NaN, or numbers 2^98 times as large as others gets UNSPLIT and parts of 0
// Lesson    none yet      Next  sgemm_parts.cu
#include "load4.cuh"
#define LINES 32
#define NONE -1000       // below all exponents
#define UNSPLIT (1 << 20)   // in the place of a shift: this line is not split

// Between which powers of two a number lies that is not 0; infinity and NaN are beyond all.
__device__ __forceinline__ int exponent(float x) {
    const unsigned bits = __float_as_uint(x) & 0x7fffffff;
    return bits >> 23 ? static_cast<int>(bits >> 23) - 127 : 31 - __clz(bits) - 149;
}

// By how much a line is moved: its largest number to below 2^48, so that sums of products of two stay below 2^127. No product of two
// numbers that are not 0 is then below 2^-102, so that in float32's range each has all its digits, and those of its parts. The sum of two
// shifts is at most 252: a float is moved back in two steps.
__device__ __forceinline__ int shift_of(int top, int low) {
    return top == NONE ? 0 : top > 127 || low < top - 98 ? UNSPLIT : min(47 - top, 126);
}

// The nearest bfloat16, ties to the even one.
__device__ __forceinline__ unsigned short nearest(float x) {
    const unsigned bits = __float_as_uint(x);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

extern "C" __global__ void __launch_bounds__(32 * LINES)
split_parts(int rows, int cols, const float* __restrict__ X, int ldx, int by_columns, unsigned short* __restrict__ parts, int ld,
            int* __restrict__ shifts) {
    __shared__ int top[LINES], low[LINES];         // exponents of the largest number of a line, and of the smallest beside 0
    const int t = threadIdx.x, first = blockIdx.x * LINES, lines = by_columns ? cols : rows, length = by_columns ? rows : cols;
    const int line = by_columns ? t % 8 * 4 : t / 32, start = by_columns ? t / 8 : t % 32 * 4;        // 4 neighbours of a row, every 128th
    const int along = by_columns ? 1 : 0, end = first + line < lines ? length : 0;
    const bool aligned = aligned16(X, ldx), whole = reinterpret_cast<size_t>(parts) % 8 == 0 && ld % 4 == 0;
    if (t < LINES) top[t] = NONE, low[t] = -NONE;
    __syncthreads();                               // they are set before somebody changes them

    int most[4] = {NONE, NONE, NONE, NONE}, least[4] = {-NONE, -NONE, -NONE, -NONE};
    for (int k = start; k < end; k += 128) {
        const int row = by_columns ? k : first + line, col = by_columns ? first + line : k;
        const float4 four = load4(X + (size_t)row * ldx + col, cols - col, aligned);
        const float x[4] = {four.x, four.y, four.z, four.w};
        for (int i = 0; i < 4; ++i)
            if (x[i] != 0) most[i] = max(most[i], exponent(x[i])), least[i] = min(least[i], exponent(x[i]));
    }
    for (int i = 0; i < 4; ++i) atomicMax(&top[line + along * i], most[i]), atomicMin(&low[line + along * i], least[i]);
    __syncthreads();                               // all of the lines have been seen
    if (t < LINES && first + t < lines) shifts[first + t] = shift_of(top[t], low[t]);

    for (int k = start; k < end; k += 128) {
        const int row = by_columns ? k : first + line, col = by_columns ? first + line : k;
        const float4 four = load4(X + (size_t)row * ldx + col, cols - col, aligned);
        float x[4] = {four.x, four.y, four.z, four.w};
        for (int i = 0; i < 4; ++i) {
            const int shift = shift_of(top[line + along * i], low[line + along * i]);
            x[i] = shift == UNSPLIT ? 0 : ldexpf(x[i], shift);
        }
        for (int part = 0; part < 3; ++part) {
            unsigned short* p = parts + (size_t)part * rows * ld + (size_t)row * ld + col;
            unsigned short y[4];
            for (int i = 0; i < 4; ++i) {
                y[i] = nearest(x[i]);
                x[i] -= __uint_as_float(y[i] << 16);                   // exactly what is left
            }
            if (whole && cols - col >= 4) *reinterpret_cast<ushort4*>(p) = make_ushort4(y[0], y[1], y[2], y[3]);
            else for (int i = 0; i < 4 && col + i < cols; ++i) p[i] = y[i];
        }
    }
}
