// fours.cuh -- four neighbours of C in one store of 16 bytes, where two lanes have two pairs each
//
// Used by   sbgemm_wide_stores.cu
#pragma once
#include "bands.cuh"         // a pair at a time

// Each lane of a pair has two neighbours of the same row in two groups of columns: x, y in the first group, and z, w in the second. The
// even lane gets the odd one's x, y and gives z, w for them: then it has four neighbours of the first group, and the odd lane of the second.
__device__ __forceinline__ float4 exchange(float x, float y, float z, float w, bool odd) {
    const float a = __shfl_xor_sync(~0u, odd ? x : z, 1), b = __shfl_xor_sync(~0u, odd ? y : w, 1);
    return odd ? float4{a, b, z, w} : float4{x, y, a, b};
}

// p[0 .. 3] = x + beta * p[0 .. 3], as far as they are inside: at once where p is a multiple of 16 bytes, else in pairs; beta 0 reads no C.
__device__ __forceinline__ void put(float* p, float4 x, float beta, int inside, bool aligned) {
    if (aligned && inside >= 4) {
        if (beta != 0) {
            const float4 c = *reinterpret_cast<const float4*>(p);
            x = {x.x + beta * c.x, x.y + beta * c.y, x.z + beta * c.z, x.w + beta * c.w};
        }
        *reinterpret_cast<float4*>(p) = x;
    } else {
        put(p, x.x, x.y, beta, inside > 1);
        if (inside > 2) put(p + 2, x.z, x.w, beta, inside > 3);
    }
}
