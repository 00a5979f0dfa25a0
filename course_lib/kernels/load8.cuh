// load8.cuh -- eight bfloat16 at a time, at the edge of a matrix too
//
// Used by   sbgemm_mma.cu, sbgemm_stages.cu
#pragma once
// The bits of eight bfloat16 of a row from p on, of which `left` are inside the matrix; the others are 0.
__device__ __forceinline__ uint4 load8(const unsigned short* p, int left, bool aligned) {
    if (aligned && left >= 8) return *reinterpret_cast<const uint4*>(p);
    unsigned pair[4];
    for (int n = 0; n < 4; ++n) pair[n] = (left > 2 * n ? p[2 * n] : 0u) | (left > 2 * n + 1 ? p[2 * n + 1] : 0u) << 16;
    return make_uint4(pair[0], pair[1], pair[2], pair[3]);
}

__device__ __forceinline__ bool aligned16(const unsigned short* matrix, int ld) {
    return reinterpret_cast<size_t>(matrix) % 16 == 0 && ld % 8 == 0;
}
