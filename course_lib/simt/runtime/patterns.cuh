// patterns.cuh -- what uniform code knows about lane patterns

__device__ __forceinline__ i64 part(const void* lanes, u32 bytes, u32 l) {
    return bytes == 8 ? ((const i64*)lanes)[l] : ((const int*)lanes)[l];
}

// Describe a new lane part; what had been counted for the old one is forgotten.
extern "C" __device__ void analyze(Pattern* p, const void* lanes, u32 bytes) {
    i64 lo = part(lanes, bytes, 0), hi = lo, bits = lo;
    const i64 step = part(lanes, bytes, 1) - lo;
    u32 regular = 1;
#pragma unroll 1
    for (u32 l = 1; l < LANES; ++l) {
        const i64 v = part(lanes, bytes, l);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
        bits |= v;
        if ((l & 7) && v - part(lanes, bytes, l - 1) != step) regular = 0;
    }
    p->lo = lo;
    p->hi = hi;
    p->bits = bits;
    for (u32 i = 0; i < 4; ++i) p->segment[i] = part(lanes, bytes, 8 * i);
    p->stride = regular && step >= 0 && step <= 16 ? step : ~0u;
    u64* counted = (u64*)p->sectors;
#pragma unroll 1
    for (u32 i = 0; i < (sizeof(p->sectors) + sizeof(p->waves)) / 8; ++i) counted[i] = 0;
}

__device__ __noinline__ void full(u64* address, u64 base, const void* lanes, u32 bytes) {
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) address[l] = base + part(lanes, bytes, l);
}

// Sectors of an access of 4 << size bytes per lane at `base` plus the lane part; cached for the next time.
extern "C" __device__ u32 pattern_sectors(Pattern* p, const void* lanes, u32 bytes, u64 base, u32 size) {
    u64 address[LANES];
    full(address, 1ull << 48 | (base & 31), lanes, bytes);
    return p->sectors[size][base & 31] = count_sectors(address, FULL);
}

// Wavefronts of a shared access of 4 << size bytes per lane.
extern "C" __device__ u32 pattern_waves(Pattern* p, const void* lanes, u32 bytes, u32 store, u32 size) {
    u64 address[LANES];
    full(address, 1ull << 48, lanes, bytes);
    return p->waves[store][size] = count_wavefronts(address, FULL, 4 << size, !store, &p->phases[store][size]);
}
