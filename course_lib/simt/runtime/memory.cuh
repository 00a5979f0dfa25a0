// memory.cuh -- loads and stores of any lanes

__device__ __noinline__ u32 fault(Warp* w, u32 what, u32 access, u32 lane, u64 address) {
    Worker* k = (Worker*)w->worker;
    k->fault = what;
    k->fault_access = access;
    k->fault_lane = lane;
    k->fault_warp = w->index;
    k->fault_block[0] = w->block[0];
    k->fault_block[1] = w->block[1];
    k->fault_block[2] = w->block[2];
    k->fault_address = address;
    return 1;
}

// The allocation of the device's heap with the highest address up to this one, or null.
__device__ __noinline__ const Array* allocation(const Heap* h, u64 address) {
    const Array* a = (const Array*)h->array;
    u64 first = 0, last = h->count;
#pragma unroll 1
    while (first < last) {
        const u64 middle = (first + last) / 2;
        if (a[middle].lo <= address) first = middle + 1;
        else last = middle;
    }
    return first ? &a[first - 1] : 0;
}

// The array that holds [address, address + bytes), or null.
__device__ __noinline__ const Array* find(const Launch* L, u64 address, u64 bytes) {
    const Array* a = (const Array*)L->array;
#pragma unroll 1
    for (u32 i = 0; i < L->arrays; ++i)
        if (address >= a[i].lo && address + bytes <= a[i].hi && address + bytes >= address) return &a[i];
    if (!L->heap || address < HEAP || address >= WORKSPACE) return 0;
    const Array* found = allocation((const Heap*)L->heap, address);
    return found && bytes <= found->hi - found->lo && address - found->lo <= found->hi - found->lo - bytes ? found : 0;
}

// For uniform code: fill {lo, hi, host - lo} with the array that holds the whole range, or say no.
extern "C" __device__ u32 lookup(Warp* w, u64 lo, u64 hi, u64* window, u32 store) {
    const Array* a = find((const Launch*)w->launch, lo, hi - lo);
    if (!a || (store && !a->writable)) return 0;
    window[0] = a->lo;
    window[1] = a->hi;
    window[2] = a->host - a->lo;
    return 1;
}

__device__ __forceinline__ u64 read_slot(const Warp* w, u32 slot, u32 bytes, u32 lane) {
    const u64 at = w->registers + slot + lane * bytes;
    return bytes == 8 ? *(const u64*)at : bytes == 4 ? *(const u32*)at : bytes == 2 ? *(const u16*)at : *(const u8*)at;
}

__device__ __forceinline__ void write_slot(Warp* w, u32 slot, u32 bytes, u32 lane, u64 value) {
    const u64 at = w->registers + slot + lane * bytes;
    if (bytes == 4) *(u32*)at = value;
    else if (bytes == 8) *(u64*)at = value;
    else if (bytes == 2) *(u16*)at = value;
    else *(u8*)at = value;
}

__device__ __forceinline__ u64 load_bytes(u64 at, u32 width, u32 sign) {
    if (width == 4) return sign ? (u64)(i64) * (const int*)at : *(const u32*)at;
    if (width == 8) return *(const u64*)at;
    if (width == 2) return sign ? (u64)(i64) * (const short*)at : *(const u16*)at;
    return sign ? (u64)(i64) * (const signed char*)at : *(const u8*)at;
}

__device__ __forceinline__ void store_bytes(u64 at, u32 width, u64 value) {
    if (width == 4) *(u32*)at = value;
    else if (width == 8) *(u64*)at = value;
    else if (width == 2) *(u16*)at = value;
    else *(u8*)at = value;
}

__device__ __forceinline__ u32 space_of(u64 address) {
    return address >= WINDOW_END || address < SHARED_WINDOW ? GLOBAL : address < LOCAL_WINDOW ? SHARED
         : address < CONST_WINDOW ? LOCAL : CONST;
}

// The same for a warp: shared memory is its block's own, or another's.
__device__ __forceinline__ u32 space_for(const Warp* w, u64 address) {
    const u32 space = space_of(address);
    return space == SHARED && (address - SHARED_WINDOW) >> RANK_SHIFT != w->window >> RANK_SHIFT ? SHARED__CLUSTER : space;
}

// The generic address of the first byte that is stored of a space; of a cluster's memory, of the first one that an address could name.
__device__ __forceinline__ u64 window_of(const Warp* w, u32 space) {
    return space == SHARED ? SHARED_WINDOW + ((const Launch*)w->launch)->shared_begin + w->window : space == SHARED__CLUSTER ? SHARED_WINDOW
         : space == LOCAL ? LOCAL_WINDOW : space == CONST ? CONST_WINDOW : 0;
}

// The block of the cluster in whose shared memory an address lies, and the byte there. 0 after a fault.
__device__ __noinline__ Worker* peer_at(Warp* w, u32 number, u32 lane, u64* at, u32 bytes) {
    const Launch* L = (const Launch*)w->launch;
    Worker* k = (Worker*)w->worker;
    const u64 address = *at, rank = address >> RANK_SHIFT;
    if (rank >= L->cluster_blocks) return fault(w, NO_PEER, number, lane, address), (Worker*)0;
    Worker* h = k->cluster ? (Worker*)((const Cluster*)k->cluster)->worker[rank] : k;
    if (h->ended) return fault(w, PEER_ENDED, number, lane, address), (Worker*)0;
    *at = (address & (1 << RANK_SHIFT) - 1) - L->shared_begin;
    if (*at + bytes > L->shared_bytes || *at + bytes < *at) return fault(w, OUT_OF_BOUNDS, number, lane, h == k ? *at : address | IN_CLUSTER), (Worker*)0;
    return h;
}

__device__ __noinline__ void record(Warp* w, u32 access, u32 event, const u64* address) {
    Worker* k = (Worker*)w->worker;
    if (k->record_count >= k->record_limit) {
        ++k->record_count;
        return;
    }
    Record* r = &((Record*)k->records)[k->record_count++];
    r->step = ((const Launch*)w->launch)->max_steps - w->steps;
    r->block = k->block_number;
    r->warp = w->index;
    r->access = access;
    r->mask = w->mask;
    r->event = event;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) r->address[l] = address && (w->mask >> l & 1) ? address[l] : (u64)-1;
}

// Find where each active lane's access lands on the host; report the first lane that is wrong.
__device__ __noinline__ u32 resolve(Warp* w, const Access* a, u32 space, u64* address, u64* host) {
    const Launch* L = (const Launch*)w->launch;
    const u32 bytes = a->width * a->count;
    const Array* last = 0;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        const u64 at = address[l];
        if (at & (bytes - 1)) return fault(w, MISALIGNED, a->number, l, at);
        if (space == SHARED) {
            if (at + bytes > L->shared_bytes || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->shared + at;
        } else if (space == SHARED__CLUSTER) {
            u64 place = at;
            const Worker* h = peer_at(w, a->number, l, &place, bytes);
            if (!h) return 1;
            host[l] = h->shared + place;
        } else if (space == LOCAL || space == FRAME) {
            const u64 top = L->stack_bytes ? ((const u32*)w->stack)[l] : L->local_bytes;
            if (at + bytes > top || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->local + l * ((L->local_bytes + 15) & ~15ull) + at;
        } else if (space == CONST) {
            if (at + bytes > L->constant_bytes || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->constants + at;
        } else {
            if (!last || at < last->lo || at + bytes > last->hi) last = find(L, at, bytes);
            if (!last) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            if (a->kind != LOAD && !last->writable) return fault(w, READ_ONLY, a->number, l, at);
            host[l] = last->host + (at - last->lo);
        }
    }
    return 0;
}

__device__ __noinline__ void check_hazards(Warp* w, const Access* a, const u64* address) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift, bytes = a->width * a->count;
    Cell* cells = (Cell*)k->shadow;
    settle(k);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left), me = w->index * LANES + l + 1;
        if (a->kind == ATOMIC) {
#pragma unroll 1
            for (u64 g = address[l] >> shift; g <= (address[l] + bytes - 1) >> shift; ++g)
                check_atomic(k, w, &cells[g], me, a->number, g << shift);
            continue;
        }
        u32 same = a->kind == STORE;
        for (u32 i = 0; same && i < a->count; ++i)
            same = load_bytes(w->shared + address[l] + i * a->width, a->width, 0) ==
                   (read_slot(w, a->item[i], a->item_bytes, l) & (a->width == 8 ? ~0ull : (1ull << 8 * a->width) - 1));
#pragma unroll 1
        for (u64 g = address[l] >> shift; g <= (address[l] + bytes - 1) >> shift; ++g)
            check_cell(k, w, &cells[g], a->kind == STORE, me, a->number, g << shift, same);
        if (a->kind == STORE)   // so that a later lane of this store sees what this one wrote
            for (u32 i = 0; i < a->count; ++i)
                store_bytes(w->shared + address[l] + i * a->width, a->width, read_slot(w, a->item[i], a->item_bytes, l));
    }
}

// An access of uniform code that may be part of a hazard; registers to be stored are in the register file.
extern "C" __device__ void check_exactly(Warp* w, const Access* a, i64 base, const void* lanes, u32 bytes) {
    u64 address[LANES];
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
        address[l] = base + (lanes ? bytes == 8 ? ((const i64*)lanes)[l] : (i64)((const int*)lanes)[l] : 0);
    check_hazards(w, a, address);
}

__device__ __noinline__ void count(Worker* k, const Access* a, u32 space, u32 mask, const u64* address) {
    u64* n = (u64*)k->dynamic + COUNTS * a->number;
    const u32 bytes = a->kind != ATOMIC && a->tag ? a->tag : a->width * a->count;   // tag of a load or store: see fuse.py
    if (a->kind != ATOMIC && a->tag == 1) return;
    n[0] += 1;
    n[1] += __popc(mask);
    if (a->kind == ATOMIC) return;
    if (space == GLOBAL) {
        n[2] += count_sectors(address, mask);
        n[5] += 1;
    } else if (space == SHARED) {
        u32 phases;
        n[3] += count_wavefronts(address, mask, bytes, a->kind == LOAD, &phases);
        n[4] += phases;
    }
}

