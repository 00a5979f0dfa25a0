// copy_tile.cuh -- tiles of floats on their way to shared memory, whichever way the matrix is stored
//
// Used by   sgemm_stages.cu and the kernels after it, which define THREADS, BK and WIDE
#pragma once
#include "async.cuh"

// Copy BK x X floats to tile[k][x]. K_NEXT: neighbours in memory differ in k. p: the first of them; `xs` x `ks` of them are inside.
// One comparison a copy and no branch: so the copies can lie among the products, and the edges cost what the middle does.
template <int X, int LD, bool K_NEXT>
__device__ __forceinline__ void copy_tile(unsigned tile, const float* p, int ld, int xs, int ks) {
    constexpr int COUNT = K_NEXT ? 1 : WIDE, ALONG = K_NEXT ? 8 : THREADS < X / COUNT ? THREADS : X / COUNT, STEP = THREADS / ALONG;
    constexpr int XSTEP = K_NEXT ? STEP : ALONG * COUNT, KSTEP = K_NEXT ? ALONG : STEP;
    static_assert(X % XSTEP == 0 && BK % KSTEP == 0, "all threads copy as many");
    const int along = threadIdx.x % ALONG * COUNT, across = threadIdx.x / ALONG;
    const int x = K_NEXT ? across : along, k = K_NEXT ? along : across;
    p += (size_t)across * ld + along, tile += 4 * (k * LD + x);
    for (int xx = 0; xx < X; xx += XSTEP)
        for (int kk = 0; kk < BK; kk += KSTEP)
            copy_async<4 * COUNT>(tile + 4 * (kk * LD + xx), p + (K_NEXT ? (size_t)xx * ld + kk : (size_t)kk * ld + xx),
                                  K_NEXT ? xx < (k + kk < ks ? xs - x : 0) : kk < (x + xx < xs ? ks - k : 0));
}
