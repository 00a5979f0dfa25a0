// load4.cuh -- four floats at a time, at the edge of a matrix too
//
// Used by   every kernel that reads A and B in vectors of 128 bits
#pragma once
// Four floats of a row from p on, of which `left` are inside the matrix; the others are 0.
__device__ __forceinline__ float4 load4(const float* p, int left, bool aligned) {
    if (aligned && left >= 4) return *reinterpret_cast<const float4*>(p);
    return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f);
}

__device__ __forceinline__ bool aligned16(const float* matrix, int ld) {
    return reinterpret_cast<size_t>(matrix) % 16 == 0 && ld % 4 == 0;
}
