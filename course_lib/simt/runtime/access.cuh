// access.cuh -- one memory instruction of a warp

// Execute one load, store or atomic for the active lanes of a warp. Returns 1 after a fault.
extern "C" __device__ u32 memory_access(Warp* w, const Access* a) {
    u64 address[LANES], host[LANES];
    Worker* k = (Worker*)w->worker;
    const u32 mask = w->mask;
    if (!mask) return 0;
    const u32 first = lowest(mask);
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
        address[l] = (a->has_address ? read_slot(w, a->address, a->address_bytes, l) : 0) + a->offset;
    if (a->address_bytes == 4)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] &= 0xffffffffu;
    u32 space = a->space;
    if (space == GENERIC) space = space_of(address[first]);
    if (a->space == GENERIC)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] -= window_of(space);
    if (resolve(w, a, space, address, host)) return 1;
    count(k, a, space, mask, address);
    if (w->traced && space != FRAME) record(w, a->number, 0, address);
    if (space == SHARED && ((const Launch*)w->launch)->racecheck) check_hazards(w, a, address);
    if (a->kind == ATOMIC) {
        change(w, a, host);
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
