// async.cuh -- cp.async: global memory is read when the copy is issued, shared memory is written when its lane waits for it

// A lane's copies arrive in the order in which they were issued, all of them at the latest when the kernel ends. Until then the
// bytes in shared memory are the old ones, so a missing wait shows. A warp has at most 256 copies under way; the oldest arrives
// when one more is issued.

enum CopyGroupKind { COMMIT, WAIT_GROUP, WAIT_ALL };
enum { MOST_COPIES = 256 };

// For the search for hazards: a lane writes or reads the shared bytes [address, address + bytes).
__device__ __noinline__ void touch(Warp* w, u32 number, u32 store, u32 lane, u64 address, u32 bytes) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
    settle(k);
#pragma unroll 1
    for (u64 g = address >> shift; g <= (address + bytes - 1) >> shift; ++g)
        check_cell(k, w, &((Cell*)k->shadow)[g], store, w->index * LANES + lane + 1, number, g << shift, 0);
}

__device__ __noinline__ void mark_flight(Warp* w, u64 address, u32 bytes, u32 flying) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = address >> shift; g <= (address + bytes - 1) >> shift; ++g) {
        Cell* c = &((Cell*)k->shadow)[g];
        c->written = flying ? IN_FLIGHT : 1;
        c->write_epoch = ((u32*)k->epochs)[g] = k->epoch + 1;
        c->write_sync = w->sync;
    }
}

// Copy 4, 8 or 16 bytes; both addresses are multiples of the size, or of 8.
__device__ __forceinline__ void move_whole(u64 to, u64 from, u32 bytes) {
    if (bytes == 4) {
        *(u32*)to = *(const u32*)from;
        return;
    }
    *(u64*)to = *(const u64*)from;
    if (bytes == 16) *(u64*)(to + 8) = *(const u64*)(from + 8);
}

// Write the data of one copy for the lanes of `mask`.
__device__ __noinline__ void land(Warp* w, InFlight* f, u32 mask) {
    const u32 race = ((const Launch*)w->launch)->racecheck;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        move_whole(w->shared + f->target[l], (u64)&f->data[2 * l], f->bytes);
        if (race) mark_flight(w, f->target[l], f->bytes, 0);
    }
    f->mask &= ~mask;
}

__device__ __forceinline__ Queue* queue_of(Warp* w) { return &((Queue*)((Worker*)w->worker)->queues)[w->index]; }

__device__ __forceinline__ void drop_empty(Queue* q) {
#pragma unroll 1
    while (q->count && !q->copy[q->first].mask) {
        q->first = (q->first + 1) % MOST_COPIES;
        --q->count;
    }
}

// The addresses of the active lanes in the space of `a`.
__device__ __noinline__ void addresses(const Warp* w, const Access* a, u64* address) {
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) {
        address[l] = (a->has_address ? read_slot(w, a->address, a->address_bytes, l) : 0) + a->offset;
        if (a->address_bytes == 4) address[l] &= 0xffffffffu;
    }
}

// How many bytes each active lane reads; the rest of its copy becomes 0.
__device__ __noinline__ u32 sizes_to_read(Warp* w, const Copy* c, u32* size) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        size[l] = c->size_slot == ~0u ? c->from_size : (u32)read_slot(w, c->size_slot, 4, l);
        if (c->ignore_slot != ~0u && ((*(const u32*)(w->registers + c->ignore_slot) >> l & 1) ^ c->ignore_negated)) size[l] = 0;
        if (size[l] > c->bytes) return fault(w, COPY_SIZE, c->number, l, size[l]);
    }
    return 0;
}

__device__ __noinline__ u32 find_source(Warp* w, const Copy* c, const u32* size, u64* address, u64* host) {
    const u32 mask = w->mask;
    u32 reading = 0;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (address[l] & (c->bytes - 1)) return fault(w, MISALIGNED, c->number, l, address[l]);
        if (!size[l]) continue;
        reading |= 1u << l;
        const Array* a = find((const Launch*)w->launch, address[l], size[l]);
        if (!a) return fault(w, OUT_OF_BOUNDS, c->number, l, address[l]);
        host[l] = a->host + (address[l] - a->lo);
    }
    u64* n = (u64*)((Worker*)w->worker)->dynamic + COUNTS * c->number;
    n[2] += count_sectors(address, reading);
    n[5] += reading != 0;   // a copy of zeros alone asks for nothing
    return 0;
}

extern "C" __device__ u32 copy_async(Warp* w, const Copy* c) {
    u64 target[LANES], source[LANES], host[LANES];
    u32 size[LANES];
    Worker* k = (Worker*)w->worker;
    Queue* q = queue_of(w);
    if (!w->mask) return 0;
    addresses(w, &c->target, target);
    addresses(w, &c->source, source);
    if (resolve(w, &c->target, SHARED, target, host) || sizes_to_read(w, c, size)) return 1;
    if (w->traced) {
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) host[l] = w->mask >> l & 1 && size[l] ? source[l] : (u64)-1;      // a copy of zeros reads nothing
        record(w, c->number, 0, host);
        record(w, c->number, 0, target);
    }
    count(k, &c->target, SHARED, w->mask, target);
    if (find_source(w, c, size, source, host)) return 1;
    if (q->count == MOST_COPIES) {
        land(w, &q->copy[q->first], q->copy[q->first].mask);
        drop_empty(q);
    }
    InFlight* f = &q->copy[(q->first + q->count++) % MOST_COPIES];
    f->mask = w->mask;
    f->bytes = c->bytes;
    const u32 race = ((const Launch*)w->launch)->racecheck;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        f->target[l] = target[l];
        f->group[l] = q->committed[l];
        u8* data = (u8*)&f->data[2 * l];
        if (size[l] == c->bytes) move_whole((u64)data, host[l], c->bytes);
        else
#pragma unroll 1
            for (u32 i = 0; i < c->bytes; ++i) data[i] = i < size[l] ? *(const u8*)(host[l] + i) : 0;
        if (!race) continue;
        touch(w, c->number, 1, l, target[l], c->bytes);
        mark_flight(w, target[l], c->bytes, 1);
    }
    return 0;
}

extern "C" __device__ u32 copy_group(Warp* w, const CopyGroup* g) {
    if (w->traced && w->mask) record(w, g->number, 0, 0);
    if (!((Worker*)w->worker)->queues) return 0;
    Queue* q = queue_of(w);
    const u32 mask = w->mask;
    if (g->kind != WAIT_GROUP)
#pragma unroll 1
        for (u32 left = mask; left; left &= left - 1) ++q->committed[lowest(left)];
    if (g->kind == COMMIT) return 0;
    const u32 left_over = g->kind == WAIT_ALL ? 0 : g->left;
#pragma unroll 1
    for (u32 i = 0; i < q->count; ++i) {
        InFlight* f = &q->copy[(q->first + i) % MOST_COPIES];
        u32 ready = 0;
#pragma unroll 1
        for (u32 left = f->mask & mask; left; left &= left - 1) {
            const u32 l = lowest(left);
            if (f->group[l] + left_over < q->committed[l]) ready |= 1u << l;
        }
        if (ready) land(w, f, ready);
    }
    drop_empty(q);
    return 0;
}

// A new thread block: what the last one left under way went to memory that is gone.
__device__ __noinline__ void clear_queue(Warp* w) {
    if (!((Worker*)w->worker)->queues) return;
    Queue* q = queue_of(w);
    q->first = q->count = 0;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) q->committed[l] = 0;
}
