// access.cuh -- one memory instruction of a warp

__device__ void check_peers(Warp* w, const Access* a, const u64* address);     // far.cuh

// The active lanes access one space; addresses are offsets in it. Returns 1 after a fault.
__device__ __noinline__ u32 access_space(Warp* w, const Access* a, u32 space, u64* address) {
    u64 host[LANES];
    Worker* k = (Worker*)w->worker;
    const u32 mask = w->mask;
    if (resolve(w, a, space, address, host)) return 1;
    count(k, a, space, mask, address);
    if (w->traced && space != FRAME) record(w, a->number, 0, address);
    if (space == SHARED && ((const Launch*)w->launch)->racecheck) check_hazards(w, a, address);
    if (space == SHARED__CLUSTER && ((const Launch*)w->launch)->racecheck) check_peers(w, a, address);
    if (a->kind == ATOMIC) {
        change(w, a, space, host);
    } else if (a->kind == LOAD) {
#pragma unroll 1
        for (u32 i = 0; i < a->count; ++i)
#pragma unroll 1
            for (u32 left = mask; left; left &= left - 1) {
                const u32 l = lowest(left);
                write_slot(w, a->item[i], a->item_bytes, l, load_bytes(host[l] + i * a->width, a->width, a->sign));
            }
    } else {
#pragma unroll 1
        for (u32 i = 0; i < a->count; ++i)
#pragma unroll 1
            for (u32 left = mask; left; left &= left - 1) {
                const u32 l = lowest(left);
                store_bytes(host[l] + i * a->width, a->width, read_slot(w, a->item[i], a->item_bytes, l));
            }
    }
    return 0;
}

// Addresses of shared::cluster become generic ones. Returns 1 after a fault.
__device__ __noinline__ u32 in_cluster(Warp* w, const Access* a, u64* address) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (address[l] >= LOCAL_WINDOW - SHARED_WINDOW) return fault(w, NO_PEER, a->number, l, address[l]);
        address[l] += SHARED_WINDOW;
    }
    return 0;
}

// Execute one load, store or atomic for the active lanes of a warp. Returns 1 after a fault.
// A generic access whose lanes lie in several spaces is one instruction: each space serves its lanes, the lowest lane's first.
extern "C" __device__ u32 memory_access(Warp* w, const Access* a) {
    u64 address[LANES];
    const u32 mask = w->mask;
    const u64 own = a->space == SHARED ? w->window : 0;
    if (!mask) return 0;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
        address[l] = (a->has_address ? read_slot(w, a->address, a->address_bytes, l) - own : 0) + a->offset;
    if (a->address_bytes == 4)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] &= 0xffffffffu;
    if (a->space != GENERIC && a->space != SHARED__CLUSTER) return access_space(w, a, a->space, address);
    if (a->space == SHARED__CLUSTER && in_cluster(w, a, address)) return 1;
    u64* executed = (u64*)((Worker*)w->worker)->dynamic + COUNTS * a->number;
    const u64 before = executed[0];
    u32 failed = 0;
#pragma unroll 1
    for (u32 rest = mask; rest && !failed; rest &= ~w->mask) {
        const u32 space = space_for(w, address[lowest(rest)]);
        u32 here = 0;
#pragma unroll 1
        for (u32 left = rest; left; left &= left - 1)
            if (space_for(w, address[lowest(left)]) == space) {
                here |= left & -left;
                address[lowest(left)] -= window_of(w, space);
            }
        w->mask = here;
        failed = access_space(w, a, space, address);
    }
    w->mask = mask;
    executed[0] = before + 1;
    return failed;
}
