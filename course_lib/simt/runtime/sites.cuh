// sites.cuh -- what an access of any lanes found out last time (codegen/reference/access.py)

// Note the array that holds the addresses of all active lanes, if there is one.
extern "C" __device__ void find_site(Warp* w, const Access* a, Site* s, const u64* address) {
    u64 lo = ~0ull, hi = 0;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u64 at = address[lowest(left)];
        lo = at < lo ? at : lo;
        hi = at > hi ? at : hi;
    }
    const u64 bytes = a->width * a->count;
    const Array* found = find((const Launch*)w->launch, lo, hi - lo + bytes);
    if (!found || (a->kind != LOAD && !found->writable)) return;
    s->lo = found->lo;
    s->span = found->hi - found->lo - bytes + 1;
    s->shift = found->host - found->lo;
}

__device__ __noinline__ void site_addresses(const Site* s, u64* address, u64 base) {
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) address[l] = (1ull << 48) + base + s->lane[l];
}

// Sectors of the pattern when the first active lane lies `base` bytes behind the beginning of a sector.
extern "C" __device__ void count_site(Site* s, u64 base) {
    u64 address[LANES];
    site_addresses(s, address, base);
    s->sectors[base] = count_sectors(address, s->mask);
}

// The pattern of lanes is new: forget what was counted for the old one.
extern "C" __device__ void new_site(const Access* a, Site* s) {
    const u32 first = lowest(s->mask);
    u32 row = a->count == 1;
#pragma unroll 1
    for (u32 left = s->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (s->lane[l] != (i64)((l - first) * a->width)) row = 0;
    }
    s->row = row;
    u64* counted = (u64*)s->sectors;
#pragma unroll 1
    for (u32 i = 0; i < sizeof(s->sectors) / 8; ++i) counted[i] = 0;
    if (a->space != SHARED || (a->kind != ATOMIC && a->tag == 1)) return;
    u64 address[LANES];
    site_addresses(s, address, 0);
    s->waves = count_wavefronts(address, s->mask, a->kind != ATOMIC && a->tag ? a->tag : a->width * a->count, a->kind == LOAD, &s->phases);
}
