// remote.cuh -- st.async and red.async, and copies between the shared memories of a cluster's blocks

// The copies go by the async proxy, st.async and red.async by the generic one ("PTX ISA"): ordinary stores need no fence before those. That a
// copy of what they sent needs one is not looked for. They are flights of the block that they go to, as its mbarrier counts them. A copy between two blocks reads its source when it lands, as
// late as the rules allow: a source that is overwritten before shows, and one whose block has ended is poison.

__device__ void write_values(Worker* k, const Flight* f) {
#pragma unroll 1
    for (u32 i = 0, at = 0; at < f->bytes; ++i, at += f->width) {
        const u64 there = k->shared + f->at + at, value = f->value[at / 8] >> at % 8 * 8;
        const u64 given = f->width == 8 ? value : value & 0xffffffff;
        store_bytes(there, f->width, !f->change ? given : changed(f->change - 1, f->element, f->width, SHARED, load_bytes(there, f->width, 0),
                                                                  given, 0));
    }
}

// st.async and red.async, one lane after the other. Returns 1 after a fault.
extern "C" __device__ u32 store_async(Warp* w, const RemoteStore* s) {
    u64 address[LANES], object[LANES];
    Worker *home[LANES], *told[LANES];
    if (!w->mask) return 0;
    if (places_in_cluster(w, &s->target, address, home) || places_in_cluster(w, &s->object, object, told)) return 1;
    if (w->traced) record(w, s->number, 0, address);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (home[l] != told[l]) return misused(w, OTHER_BLOCK, s->number, l, 0, 0);
        Object* o = find_object(w, home[l], s->number, l, object[l]);
        if (!o) return 1;
        Flight* f = send(w, home[l], s->number, l, VALUE, o, address[l], s->width * s->count, 0);
        f->change = s->change;
        f->element = s->element;
        f->width = s->width;
        f->value[0] = f->value[1] = 0;
#pragma unroll 1
        for (u32 i = 0; i < s->count; ++i) {
            const u64 value = s->item[i] == ~0u ? s->value[i] : read_slot(w, s->item[i], s->width, l);
            f->value[i * s->width / 8] |= (s->width == 8 ? value : value & 0xffffffff) << i * s->width % 8 * 8;
        }
    }
    ++((Worker*)w->worker)->epoch;
    return 0;
}

__device__ __forceinline__ Worker* source_of(const Worker* k, const Flight* f) {
    return f->from && k->cluster ? (Worker*)((const Cluster*)k->cluster)->worker[f->from - 1] : (Worker*)k;
}

// A copy reads the block's own shared memory from `at` on, until it lands in another block's.
__device__ void lend_to_peer(Warp* w, Flight* f, u32 lane, u64 at) {
    const Worker* k = (const Worker*)w->worker;
    f->from = 1 + k->rank;
    check_fences(w, (Worker*)w->worker, f->number, lane, at, f->bytes);
    if (k->clocks) touch_proxied(w, f->number, 0, lane, at, f->bytes, 0);
}

__device__ void read_peer(Worker* k, const Flight* f) {
    const Worker* from = source_of(k, f);
    const u32 shift = ((const Launch*)k->launch)->granule_shift;
    if (!from->clocks || !f->host) return;
    const u64 at = f->host - from->shared;
#pragma unroll 1
    for (u64 g = at >> shift; g <= (at + f->bytes - 1) >> shift; ++g) {
        Cell* c = &((Cell*)from->shadow)[g];
        c->source -= c->source != 0;
    }
}

// A block has ended: copies that have still to read its shared memory find poison.
__device__ __noinline__ void end_sources(const Cluster* c, Worker* k) {
    if (!k->late) return;
#pragma unroll 1
    for (u32 r = 0; r < c->blocks; ++r) {
        Async* a = async_of((Worker*)c->worker[r]);
#pragma unroll 1
        for (u32 i = 0; i < a->flights; ++i) {
            Flight* f = &a->flight[i];
            if (f->from != 1 + k->rank || !f->host) continue;
            log_hazard(k, UNAWAITED, f->number, f->number, f->thread, f->thread, f->host - k->shared);
            f->host = 0;
        }
    }
}
