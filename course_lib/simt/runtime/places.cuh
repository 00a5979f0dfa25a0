// places.cuh -- where in shared memory mbarriers and bulk copies have their addresses, and whose it is

// The block of the cluster that has an mbarrier: 1 + its rank, or 0 where a block is alone.
__device__ __noinline__ u32 home_of(const Warp* w, const Object* o) {
    const Cluster* c = (const Cluster*)((const Worker*)w->worker)->cluster;
#pragma unroll 1
    for (u32 r = 0; c && r < c->blocks; ++r) {
        const Async* a = async_of((const Worker*)c->worker[r]);
        if (o >= a->object && o < a->object + MOST_OBJECTS) return 1 + r;
    }
    return 0;
}

__device__ __noinline__ u32 misused(Warp* w, u32 why, u32 number, u32 lane, u32 value, const Object* o) {
    Async* a = async_of((Worker*)w->worker);
    const u32 in = o ? home_of(w, o) : 0;
    const Async* h = in ? async_of((Worker*)((const Cluster*)((Worker*)w->worker)->cluster)->worker[in - 1]) : a;
    a->misused = o ? 1 + (o - h->object) : 0;
    a->misused_in = in;
    return fault(w, OBJECT_MISUSE, number, lane, (u64)why << 32 | value);
}

// The lanes' places in shared memory, which must be multiples of the access's size and lie inside. Returns 1 after a fault.
__device__ __noinline__ u32 shared_places(Warp* w, const Access* a, u64* address) {
    u64 host[LANES];
    addresses(w, a, address);
    if (a->space == GENERIC)
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) {
            const u32 l = lowest(left);
            if (space_for(w, address[l]) != SHARED) return misused(w, NOT_IN_SHARED, a->number, l, 0, 0);
            address[l] -= window_of(w, SHARED);
        }
    return resolve(w, a, SHARED, address, host);
}

// The lanes' places in shared memory of the cluster, and the blocks they lie in.
__device__ __noinline__ u32 places_in_cluster(Warp* w, const Access* a, u64* address, Worker** home) {
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) home[l] = (Worker*)w->worker;
    if (a->space == SHARED) return shared_places(w, a, address);
    addresses(w, a, address);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (a->space == GENERIC) {
            if (space_of(address[l]) != SHARED) return misused(w, NOT_IN_SHARED, a->number, l, 0, 0);
            address[l] -= SHARED_WINDOW;
        }
        const u64 at = (address[l] & (1 << RANK_SHIFT) - 1) - ((const Launch*)w->launch)->shared_begin;
        if (at & a->width - 1) return fault(w, MISALIGNED, a->number, l, at);
        home[l] = peer_at(w, a->number, l, &address[l], a->width);
        if (!home[l]) return 1;
    }
    return 0;
}

// The next block that a copy goes to: h, or that of the lowest rank in the mask of a copy to many. 0 after a fault.
__device__ __noinline__ Worker* target_of(Warp* w, u32 number, u32 lane, Worker* h, u32 many, u32 ranks, u64 shared) {
    u64 there = (u64)lowest(ranks) << RANK_SHIFT | shared + ((const Launch*)w->launch)->shared_begin;
    return many ? peer_at(w, number, lane, &there, 16) : h;
}
