// bulk.cuh -- bulk copies, and when all comes that is under way

// Everything happens as late as the rules allow. A copy into shared memory reads and writes when the phase of its mbarrier lacks nothing
// else and somebody waits for it; one into global memory reads its source when its thread waits for that, and writes when the thread
// waits for more, or at the end of the block. What nobody waited for has lost its source by then: poison is written. Before the fence
// that the manual asks for, racecheck reports a copy that reads or overwrites what ordinary stores wrote; it does not ask for one between
// ordinary loads and a copy that overwrites what they read, as no kernel that we know of has one. Not measured, and an error:
// a copy of no bytes.

__device__ __noinline__ void move_bytes(u64 to, u64 from, u32 bytes) {
#pragma unroll 1
    for (u32 i = 0; i < bytes; i += 8) *(u64*)(to + i) = *(const u64*)(from + i);
}

__device__ const Box* edge_of(const Worker* k, const Flight* f);        // of boxes.cuh
__device__ void load_box(Worker* k, const Flight* f);
__device__ void store_box(Worker* k, const Flight* f);
__device__ u32 gaps_of(Worker* k, const Flight* f);

__device__ __noinline__ void fill_bytes(u64 to, u64 value, u32 bytes) {
#pragma unroll 1
    for (u32 i = 0; i < bytes; i += 8) *(u64*)(to + i) = value;
}

__device__ void write_values(Worker* k, const Flight* f);       // of st.async and red.async, see remote.cuh
__device__ void read_peer(Worker* k, const Flight* f);
__device__ void land_from_afar(Worker* k, u64 at, u32 bytes);

__device__ __noinline__ void land_load(Worker* k, Flight* f, Object* o) {
    if (f->boxed) load_box(k, f);
    else if (f->kind == VALUE) write_values(k, f);
    else if (f->host) move_bytes(k->shared + f->at, f->host, f->bytes);
    else fill_bytes(k->shared + f->at, ((const Launch*)k->launch)->poison, f->bytes);     // its source is gone
    if (f->from) read_peer(k, f);
    if (k->clocks) mark_landed(k, f->at, f->bytes, o, 1);
    if (k->far) land_from_afar(k, f->at, f->bytes);
    f->over = 1;
    --o->flying;
    o->bytes -= f->bytes - (f->boxed ? gaps_of(k, f) : 0);
    settle_object(k, o);
}

// What is under way for an mbarrier comes, one after the other, until its phase is over; with `all`, everything for every mbarrier.
__device__ void land_flights(Worker* k, Object* only, u32 all) {
    Async* a = async_of(k);
    const u32 phase = only ? only->phase : 0, count = a->flights;
#pragma unroll 1
    for (u32 i = 0; i < count; ++i) {
        Flight* f = &a->flight[i];
        Object* o = &a->object[f->object];
        if (f->kind == INTO_GLOBAL) {
            if (all) write_target(k, f);
            continue;
        }
        if (!all && o != only) continue;
        if (f->kind != ARRIVAL) land_load(k, f, o);
        else
#pragma unroll 1
            for (u32 left = f->bytes; left && o->pending && (all || o->phase == phase); left &= left - 1)
                land_arrival(k, f, o, lowest(left));
        if (!all && o->phase != phase) break;
    }
    drop_flights(a);
}

// The source of a copy into global memory is read: its thread has waited for that.
__device__ __noinline__ void read_source(Worker* k, Flight* f) {
    Async* a = async_of(k);
    const Launch* L = (const Launch*)k->launch;
    if (k->clocks) {
        const Warp* w = (const Warp*)(k->warps + (f->thread - 1) / LANES * L->warp_bytes);
        const Box* box = edge_of(k, f);
#pragma unroll 1
        for (u64 g = f->at >> L->granule_shift; g <= (f->at + f->bytes - 1) >> L->granule_shift; ++g) {
            if (box && !in_tensor(k, box, f->at, g)) continue;
            Cell* c = &((Cell*)k->shadow)[g];
            c->source -= c->source != 0;
            read_cell(k, w, c, f->thread, f->number);
        }
    }
    if (a->data_used + f->bytes > a->data_bytes) {      // no room to keep it: it is written at once
        f->data = k->shared + f->at;
        write_target(k, f);
        return;
    }
    f->data = a->data + a->data_used;
    a->data_used += f->bytes;
    move_bytes(f->data, k->shared + f->at, f->bytes);
}

// Write what was read of a source, or poison when the block has ended before anybody waited.
__device__ void write_target(Worker* k, Flight* f) {
    const u64 poison = ((const Launch*)k->launch)->poison;
    f->over = 1;
    if (f->boxed) {
        store_box(k, f);
        return;
    }
    if (!f->data) {
        fill_bytes(f->host, poison, f->bytes);
        return;
    }
    if (!f->change) {
        move_bytes(f->host, f->data, f->bytes);
        return;
    }
    const u32 unflushed = GLOBAL + 1;          // unlike `red`, an H200 keeps subnormal sums here (tests/hardware/kernels/bulk_add.cu)
#pragma unroll 1
    for (u32 i = 0; i < f->bytes; i += f->width)
        store_bytes(f->host + i, f->width, changed(f->change - 1, f->element, f->width, unflushed, load_bytes(f->host + i, f->width, 0),
                                                   load_bytes(f->data + i, f->width, 0), 0));
}

__device__ void touch_far(Warp* w, Worker* h, u32 number, u32 lane, u64 at, u32 bytes, u32 kind);     // far.cuh
__device__ void check_fences(Warp* w, Worker* h, u32 number, u32 lane, u64 at, u32 bytes);
__device__ void lend_to_peer(Warp* w, Flight* f, u32 lane, u64 at);

// The first 16 bytes of a range that lie outside of what it must lie in, or ~0.
__device__ __noinline__ u64 outside(u64 at, u64 bytes, u64 lo, u64 hi) {
    if (at < lo || at >= hi) return at;
    return bytes > hi - at ? hi & ~15ull : ~0ull;
}

// Where a copy reads or writes outside of the shared memory of its target: in an array, or in the block's own shared memory. 0 after a fault.
__device__ __noinline__ u64 far_side(Warp* w, const BulkCopy* c, u32 lane, u64 at, u32 bytes) {
    if (at & 15) return fault(w, MISALIGNED, c->number, lane, at), 0;
    if (c->far.space == SHARED) {
        const u64 wrong = outside(at, bytes, 0, w->shared_bytes);
        if (wrong != ~0ull) return fault(w, OUT_OF_BOUNDS, c->number, lane, wrong), 0;
        return w->shared + at;
    }
    const Array* array = find((const Launch*)w->launch, at, 16);
    if (!array) return fault(w, OUT_OF_BOUNDS, c->number, lane, at), 0;
    if (bytes > array->hi - at) return fault(w, OUT_OF_BOUNDS, c->number, lane, outside(at, bytes, array->lo, array->hi)), 0;
    if (c->kind == INTO_GLOBAL && !array->writable) return fault(w, READ_ONLY, c->number, lane, at), 0;
    return array->host + (at - array->lo);
}

// A copy is under way from now on, in the list of the block h, whose mbarrier `o` it tells if it goes to shared memory.
__device__ __noinline__ Flight* send(Warp* w, Worker* h, u32 number, u32 lane, u32 kind, Object* o, u64 at, u32 bytes, const Box* box) {
    Async* a = async_of(h);
    if (a->flights == MOST_FLIGHTS) land_flights(h, 0, 1);
    Flight* f = take_flight(a);
    f->kind = kind;
    f->number = number;
    f->thread = w->index * LANES + lane + 1;
    f->object = o ? o - a->object : 0;
    f->bytes = bytes;
    f->at = at;
    f->data = f->change = 0;
    f->group = a->committed[f->thread - 1];
    if (box) f->boxed = 1, *box_of(a, f) = *box;
    if (o) ++o->flying;
    ++a->changes;
    if (h != (Worker*)w->worker) f->sender = 1 + ((Worker*)w->worker)->rank;
    if (kind != VALUE) check_fences(w, h, number, lane, at, bytes);
    if (f->sender) touch_far(w, h, number, lane, at, bytes, VALUE);
    else if (async_of(h) && h->clocks) touch_proxied(w, number, kind != INTO_GLOBAL, lane, at, bytes, edge_of(h, f));
    return f;
}

// One copy, into the shared memory of the block h or of each block of a mask; `shared` and `object` are bytes there.
__device__ __noinline__ u32 one_copy(Warp* w, const BulkCopy* c, u32 lane, Worker* h, u64 shared, u64 global, u64 object) {
    const u32 bytes = operand_of(w, c->bytes, c->bytes_slot, lane), load = c->kind == INTO_SHARED;
    if (!bytes || bytes & 15) return misused(w, BULK_BYTES, c->number, lane, bytes, 0);
    const u64 wrong = outside(shared, bytes, 0, w->shared_bytes);
    if (wrong != ~0ull) return fault(w, OUT_OF_BOUNDS, c->number, lane, wrong);
    const u64 host = far_side(w, c, lane, global, bytes);
    if (!host) return 1;
    const u32 many = c->mask_slot != ~0u;
    const u64 sectors = c->far.space == SHARED ? 0 : sectors_of(global, bytes);
    u64 received = 0;
#pragma unroll 1
    for (u32 left = many ? (u32)read_slot(w, c->mask_slot, 2, lane) : 1; left; left &= left - 1) {
        h = target_of(w, c->number, lane, h, many, left, shared);
        if (!h) return 1;
        received += sectors;
        Object* o = load ? find_object(w, h, c->number, lane, object) : 0;
        if (load && !o) return 1;
        Flight* f = send(w, h, c->number, lane, c->kind, o, shared, bytes, 0);
        f->host = host;
        f->change = c->change;
        f->element = c->element;
        f->width = c->width;
        if (load && c->far.space == SHARED) lend_to_peer(w, f, lane, global);
    }
    count_copy(w, c->number, received, sectors);
    return 0;
}

// One bulk copy for each active lane. Returns 1 after a fault.
extern "C" __device__ u32 copy_bulk(Warp* w, const BulkCopy* c) {
    u64 shared[LANES], global[LANES], object[LANES];
    Worker *home[LANES], *told[LANES];
    if (!w->mask) return 0;
    if (places_in_cluster(w, &c->shared, shared, home)) return 1;
    if (c->kind == INTO_SHARED && places_in_cluster(w, &c->object, object, told)) return 1;
    addresses(w, &c->far, global);
    if (w->traced) {
        record(w, c->number, 0, c->kind == INTO_SHARED ? global : shared);
        record(w, c->number, 0, c->kind == INTO_SHARED ? shared : global);
    }
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (c->kind == INTO_SHARED && home[l] != told[l]) return misused(w, OTHER_BLOCK, c->number, l, 0, 0);
        if (one_copy(w, c, l, home[l], shared[l], global[l], object[l])) return 1;
    }
    ++((Worker*)w->worker)->epoch;
    return 0;
}

// cp.async.bulk.commit_group and wait_group, of each active thread for its own copies.
extern "C" __device__ u32 wait_bulk(Warp* w, const BulkWait* g) {
    Worker* k = (Worker*)w->worker;
    Async* a = async_of(k);
    if (w->traced && w->mask) record(w, g->number, 0, 0);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 thread = w->index * LANES + lowest(left);
        if (g->kind == COMMIT) {
            ++a->committed[thread];
            continue;
        }
#pragma unroll 1
        for (u32 i = 0; i < a->flights; ++i) {
            Flight* f = &a->flight[i];
            if (f->kind != INTO_GLOBAL || f->thread != thread + 1 || (u64)f->group + g->left >= a->committed[thread]) continue;
            if (!f->data) read_source(k, f);
            if (!g->reading && !f->over) write_target(k, f);
        }
        drop_flights(a);
    }
    ++k->epoch;
    return 0;
}

// -- between turns -------------------------------------------------------------------------------------------------------------
enum { QUIET_TURNS = 1000, QUIET_TURNS_INTERLEAVED = 200000 };     // after so many turns that change nothing, nothing will

// The block has ended: what is written to global memory is there for others; a source that nobody waited for was perhaps not read.
__device__ __noinline__ void end_flights(Worker* k) {
    Async* a = async_of(k);
#pragma unroll 1
    for (u32 i = 0; i < a->flights; ++i) {
        Flight* f = &a->flight[i];
        if (f->kind != ARRIVAL && !f->data && f->sender) log_between(k, UNAWAITED, f->number, f->number, f->sender - 1, f->thread, f->thread, f->at, k);
        else if (f->kind != ARRIVAL && !f->data) log_hazard(k, UNAWAITED, f->number, f->number, f->thread, f->thread, f->at);
        if (f->kind == INTO_GLOBAL) write_target(k, f);
    }
    a->flights = 0;
}

// Where one block of a cluster does something, the others may still wait for it.
__device__ __noinline__ void wake_cluster(const Cluster* c) {
#pragma unroll 1
    for (u32 r = 0; r < c->blocks; ++r) async_of((Worker*)c->worker[r])->quiet = 0;
}

// All warps have had their turn: bytes come for which a phase waits that lacks nothing else. Returns 1 when nobody can ever go on.
__device__ __noinline__ u32 after_turns(Worker* k, const Launch* L, u32 ready, u32 waiting) {
    Async* a = async_of(k);
    Warp* stuck = 0;
    u32 stalled = 0;
    if (!ready && !waiting) {
        end_flights(k);
        return 0;
    }
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i) {
        Object* o = &a->object[i];
        const u32 wanted = o->live && o->wanted == o->phase + 1 && o->pending <= o->arriving;
        o->wanted = 0;
        if (wanted) land_flights(k, o, 0);
    }
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        if (w->state != READY || !w->stalled) continue;
        ++stalled;
        if (!stuck) stuck = w;
    }
    const u32 changed_something = a->changes != a->seen_changes || ready != a->ready || stalled != ready;
    a->seen_changes = a->changes;
    a->ready = ready;
    a->quiet = changed_something ? 0 : a->quiet + 1;
    if (changed_something && k->cluster) wake_cluster((const Cluster*)k->cluster);
    if (!stuck || a->quiet < (L->interleaved ? QUIET_TURNS_INTERLEAVED : QUIET_TURNS)) return 0;
    return misused(stuck, DEADLOCK, stuck->wait_number, stuck->wait_lane, stuck->wait_phase, &a->object[stuck->wait_object]);
}
