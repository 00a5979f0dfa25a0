// async.cuh -- cp.async: global memory is read when the copy is issued, shared memory is written when its lane waits for it

enum CopyGroupKind { COMMIT, WAIT_GROUP, WAIT_ALL };

// For the search for hazards: a lane writes or reads the shared bytes [address, address + bytes).
__device__ __noinline__ void touch(Warp* w, u32 number, u32 store, u32 lane, u64 address, u32 bytes) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
    settle(k);
#pragma unroll 1
    for (u64 g = address >> shift; g <= (address + bytes - 1) >> shift; ++g)
        check_cell(k, w, &((Cell*)k->shadow)[g], store, w->index * LANES + lane + 1, number, g << shift, 0);
}

// The addresses of all lanes in the space of `a`.
__device__ __noinline__ void addresses(const Warp* w, const Access* a, u64* address) {
    if (a->has_address) {
        const i64 offset = a->offset - (a->space == SHARED ? w->window : 0);
        a->address_bytes == 4 ? addresses_4(w->registers + a->address, offset, address)
                              : addresses_8(w->registers + a->address, offset, address);
        return;
    }
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) address[l] = a->address_bytes == 4 ? a->offset & 0xffffffff : a->offset;
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

// The lanes that read all bytes; the others read none. Returns 0 when a lane reads some of them.
__device__ __forceinline__ u32 all_or_none(const Warp* w, const Copy* c, u32* reading) {
    const u32 mask = w->mask;
    u32 all = c->from_size == c->bytes ? FULL : 0, none = c->from_size ? 0 : FULL;
    if (c->size_slot != ~0u) {
        all = lanes_equal(w->registers + c->size_slot, c->bytes);
        none = lanes_equal(w->registers + c->size_slot, 0);
    }
    if (c->ignore_slot != ~0u) {
        const u32 ignore = *(const u32*)(w->registers + c->ignore_slot) ^ (c->ignore_negated ? FULL : 0);
        all &= ~ignore;
        none |= ignore;
    }
    *reading = all & mask;
    return (~(all | none) & mask) == 0;
}

// Are these lanes where this access found an array last time, or in another one that holds them all?
__device__ __noinline__ u32 in_one_array(Warp* w, const Access* a, Site* s, const u64* address, u32 lanes) {
    if ((lanes_inside(address, s->lo, s->span) & lanes) == lanes) return 1;
    const u32 mask = w->mask;
    w->mask = lanes;
    find_site(w, a, s, address);
    w->mask = mask;
    return (lanes_inside(address, s->lo, s->span) & lanes) == lanes;
}

// Compare the lanes' pattern with the last one, and count it anew when it differs.
__device__ __forceinline__ void same_site(const Access* a, Site* s, const u64* address, u32 lanes) {
    if (repeats_pattern(s->lane, address, address[lowest(lanes)], lanes) & (s->mask == lanes)) return;
    s->mask = lanes;
    new_site(a, s);
}

__device__ __noinline__ void count_copy(Warp* w, const Copy* c, Site* from, const Site* to, const u64* source, u32 reading) {
    u64* n = (u64*)((Worker*)w->worker)->dynamic + COUNTS * c->number;
    n[0] += 1;
    n[1] += __popc(w->mask);
    n[3] += to->waves;
    n[4] += to->phases;
    if (!reading) return;       // a copy of zeros alone asks for nothing
    const u32 column = source[lowest(reading)] & 31;
    if (!from->sectors[column]) count_site(from, column);
    n[2] += from->sectors[column];
    n[5] += 1;
}

// Carry out a copy of all lanes for which nothing must be looked at closely. Returns 0 when that is not so; then nothing has changed.
__device__ __noinline__ u32 copy_whole_warp(Warp* w, const Copy* c, Site* sites) {
    u64 target[LANES], source[LANES];
    u32 reading;
    Site *from = sites, *to = sites + 1;
    Queue* q = queue_of(w);
    if (w->mask != FULL || w->traced || ((const Launch*)w->launch)->racecheck || !all_or_none(w, c, &reading)) return 0;
    addresses(w, &c->target, target);
    addresses(w, &c->source, source);
    if (w->shared_bytes < c->bytes || (lanes_aligned(target, c->bytes - 1) & lanes_aligned(source, c->bytes - 1)) != FULL) return 0;
    if (lanes_inside(target, 0, w->shared_bytes - c->bytes + 1) != FULL) return 0;
    if (reading && !in_one_array(w, &c->source, from, source, reading)) return 0;
    same_site(&c->target, to, target, FULL);
    if (reading) same_site(&c->source, from, source, reading);
    count_copy(w, c, from, to, source, reading);
    InFlight* f = take_place(w, c);
    const u64 data = (u64)f->data;
    f->row = to->row;
    narrow_lanes(f->target, target);
    copy_row_4((u64)f->group, (u64)q->committed);
    if (reading == FULL) {
        if (from->row) move_row(data, from->shift + source[0], c->bytes);
        else c->bytes == 4 ? gather_lanes<4>(data, from->shift, source) : c->bytes == 8 ? gather_lanes<8>(data, from->shift, source)
                                                                              : gather_lanes<16>(data, from->shift, source);
        return 1;
    }
#pragma unroll 1
    for (u32 i = 0; i < LANES * c->bytes; i += 4) *(u32*)(data + i) = 0;
#pragma unroll 1
    for (u32 left = reading; left; left &= left - 1)
        move_whole(data + c->bytes * lowest(left), from->shift + source[lowest(left)], c->bytes);
    return 1;
}

// The same for any lanes, one after the other. Returns 1 after a fault.
__device__ __noinline__ u32 copy_lanes(Warp* w, const Copy* c) {
    u64 target[LANES], source[LANES], host[LANES];
    u32 size[LANES];
    addresses(w, &c->target, target);
    addresses(w, &c->source, source);
    if (resolve(w, &c->target, SHARED, target, host) || sizes_to_read(w, c, size)) return 1;
    if (w->traced) {
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) host[l] = w->mask >> l & 1 && size[l] ? source[l] : (u64)-1;      // a copy of zeros reads nothing
        record(w, c->number, 0, host);
        record(w, c->number, 0, target);
    }
    count((Worker*)w->worker, &c->target, SHARED, w->mask, target);
    if (find_source(w, c, size, source, host)) return 1;
    InFlight* f = take_place(w, c);
    const u32 race = ((const Launch*)w->launch)->racecheck;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        f->target[l] = target[l];
        f->group[l] = queue_of(w)->committed[l];
        const u64 data = (u64)f->data + c->bytes * l;
        if (size[l] == c->bytes) move_whole(data, host[l], c->bytes);
        else
#pragma unroll 1
            for (u32 i = 0; i < c->bytes; ++i) ((u8*)data)[i] = i < size[l] ? *(const u8*)(host[l] + i) : 0;
        if (!race) continue;
        touch(w, c->number, 1, l, target[l], c->bytes);
        mark_flight(w, target[l], c->bytes, 1);
    }
    return 0;
}

// `sites`: what the copy found out about its source and its target last time.
extern "C" __device__ u32 copy_async(Warp* w, const Copy* c, Site* sites) {
    if (w->mask) w->role |= ISSUED_COPIES;
    return w->mask && !copy_whole_warp(w, c, sites) ? copy_lanes(w, c) : 0;
}

extern "C" __device__ u32 copy_group(Warp* w, const CopyGroup* g) {
    if (w->traced && w->mask) record(w, g->number, 0, 0);
    if (!((Worker*)w->worker)->queues) return 0;
    Queue* q = queue_of(w);
    const u32 mask = w->mask;
    if (g->kind != WAIT_GROUP) commit_lanes(q->committed, mask);
    if (g->kind == COMMIT) return 0;
    const u32 left_over = g->kind == WAIT_ALL ? 0 : g->left;
#pragma unroll 1
    for (u32 i = 0; i < q->count; ++i) {
        InFlight* f = in_flight(q, i);
        const u32 ready = lanes_ready(f->group, q->committed, left_over) & f->mask & mask;
        if (ready) land(w, f, ready);
        else if ((f->mask & mask) == mask) break;     // later copies of these lanes are of the same group or a later one
    }
    drop_empty(q);
    return 0;
}

// A new thread block: what the last one left under way went to memory that is gone.
__device__ __noinline__ void clear_queue(Warp* w) {
    if (!((Worker*)w->worker)->queues) return;
    Queue* q = queue_of(w);
    q->first = q->count = q->issued = 0;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) q->committed[l] = 0;
#pragma unroll 1
    for (u32 i = 0; i < MOST_COPIES; ++i) q->order[i] = i;
}
