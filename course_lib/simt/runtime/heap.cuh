// heap.cuh -- malloc and free in kernels
//
// Every allocation gets an address that none had before, far from its neighbours, and an Array of its own, so that bounds are checked as
// those of arguments are. Its bytes lie in one buffer on the host, cut into runs of 16 bytes; what describes the runs lies elsewhere.

enum { HEAP_GAP = 1024 };           // between the addresses of two allocations
enum { IN_USE = 1 };                // in a run's entry: 2 * (its length) + IN_USE

// Take `need` neighbouring units out of the buffer; ~0: there are none. The search goes on where the last one ended.
__device__ __noinline__ u64 take_run(Heap* h, u64 need) {
    u32* run = (u32*)h->run;
    u64 at = h->cursor;
#pragma unroll 1
    for (u64 seen = 0; seen <= h->units;) {
        if (at >= h->units) at = 0;
        u64 length = run[at] >> 1;
        if (!(run[at] & IN_USE)) {
#pragma unroll 1
            while (at + length < h->units && !(run[at + length] & IN_USE)) length += run[at + length] >> 1;
            run[at] = 2 * length;
            if (length >= need) {
                if (length > need) run[at + need] = 2 * (length - need);
                run[at] = 2 * need + IN_USE;
                h->cursor = at + need;
                return at;
            }
        }
        seen += length;
        at += length;
    }
    h->cursor = 0;
    return ~0ull;
}

// Make room in the table of allocations by leaving out those that were freed; they stay in the order of their addresses.
__device__ __noinline__ void forget_freed(Heap* h) {
    Array* a = (Array*)h->array;
    u64 kept = 0;
#pragma unroll 1
    for (u64 i = 0; i < h->count; ++i)
        if (a[i].pad) a[kept++] = a[i];
    h->count = kept;
}

__device__ __noinline__ u64 heap_take(const Launch* L, u64 bytes) {
    Heap* h = (Heap*)L->heap;
    if (bytes > 16 * h->units || h->next + bytes + HEAP_GAP > WORKSPACE) return 0;
    if (h->count == h->most) forget_freed(h);
    if (h->count == h->most) return 0;
    const u64 need = bytes ? (bytes + 15) / 16 : 1, at = take_run(h, need);
    if (at == ~0ull) return 0;
    Array* a = &((Array*)h->array)[h->count++];
    a->lo = h->next;
    a->hi = a->lo + bytes;
    a->host = h->host + 16 * at;
    a->writable = a->pad = 1;
    h->next += 16 * need + HEAP_GAP;
    ++h->allocated;
    h->bytes += bytes;
#pragma unroll 1
    for (u64 i = 0; i < 2 * need; ++i) ((u64*)a->host)[i] = 0x7fbadbad7fbadbadull;
    return a->lo;
}

__device__ __noinline__ u32 heap_give(Warp* w, const Call* c, u32 lane, u64 address) {
    if (!address) return 0;
    Heap* h = (Heap*)((const Launch*)w->launch)->heap;
    Array* a = (Array*)allocation(h, address);
    if (!a || a->lo != address || !a->pad) return fault(w, HEAP_MISUSE, c->number, lane, address);
    ((u32*)h->run)[(a->host - h->host) / 16] &= ~IN_USE;
    --h->allocated;
    h->bytes -= a->hi - a->lo;
    a->hi = a->lo;
    a->writable = a->pad = 0;
    const u64 sites = ((const Worker*)w->worker)->sites;
#pragma unroll 1
    for (u64 i = 0; i < h->site_bytes; i += 8) *(u64*)(sites + i) = 0;   // no access may go on where it found memory before
    return 0;
}
