// bands.cuh -- tiles of C in bands of GROUP rows of tiles, column by column; and two neighbours of C at a time
//
// Used by   sbgemm_tma.cu and the kernels after it, which define GROUP
#pragma once
struct Tile { int row, col; };
__device__ __forceinline__ Tile tile_of(int n, int rows, int cols) {
    const int band = n / (GROUP * cols), height = min(GROUP, rows - band * GROUP), within = n - band * GROUP * cols;
    return {band * GROUP + within % height, within / height};
}

// p[0] = x + beta * p[0], and the same with y of the neighbour when it is inside; C is not read when beta is 0.
__device__ __forceinline__ void put(float* p, float x, float y, float beta, bool both) {
    if (both) {
        if (beta != 0) x += beta * p[0], y += beta * p[1];
        *reinterpret_cast<float2*>(p) = {x, y};
    } else *p = beta == 0 ? x : x + beta * *p;
}
