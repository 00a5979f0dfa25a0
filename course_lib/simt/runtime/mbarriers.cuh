// mbarriers.cuh -- mbarrier objects: threads arrive at them, bytes of copies are expected and come, phases complete ("PTX ISA", mbarrier)
//
// The 64 bits in shared memory are opaque. Here they name the object, its phase and the arrivals that are missing, and change with each
// operation, so that an ordinary store is noticed; expected arrivals and bytes stand in an Object. A token is what the bits were. Copies
// and arrivals that copies trigger come when nothing else keeps a phase that somebody waits for, after all warps have had their turn.
// A copy that tells an mbarrier does so by the generic proxy ("PTX ISA", cp.async.bulk): what puts the init before the copy is enough, and
// no fence.proxy.async need stand between the two.
// Not in the manual, and not yet measured: what an arrival does that finds none missing, and a parity above 1: both are errors here; whether
// bytes that are expected after they came complete a phase: here they do.

enum { TOKEN_MARK = 0x80000 };      // in the upper 20 bits, beside the place in units of 8 bytes

__device__ __forceinline__ u64 word_of(const Object* o) {
    return (u64)(TOKEN_MARK | o->at >> 3) << 44 | (u64)(o->phase & 0xffffff) << 20 | o->pending & MOST_COUNT;
}

__device__ __noinline__ void show_object(Worker* k, Object* o) {
    ++async_of(k)->changes;
    *(u64*)(k->shared + o->at) = o->word = word_of(o);
}

__device__ __noinline__ Object* object_at(const Worker* k, u64 at) {
    Async* a = async_of(k);
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i)
        if (a->object[i].live && a->object[i].at == at) return &a->object[i];
    return 0;
}

// Where a clock says which phase of an mbarrier is known: 1 + its number, when the init or the phase before is.
__device__ __forceinline__ u32 column_of(const Worker* k, const Object* o) { return async_of(k)->threads + (o - async_of(k)->object); }

// See far.cuh.
__device__ bool far_unordered(const Worker* k, const Warp* w, u32 me, u32 rank, u32 thread, u32 epoch);
__device__ void log_between(Worker* k, u32 kind, u32 first, u32 second, u32 rank, u32 a, u32 b, u64 address, const Worker* h);

// The object that a thread means; racecheck asks whether the thread can know of the init. 0 after a fault.
__device__ __noinline__ Object* find_object(Warp* w, Worker* h, u32 number, u32 lane, u64 at) {
    Worker* k = (Worker*)w->worker;
    Object* o = object_at(h, at);
    if (!o) {
        misused(w, NO_OBJECT, number, lane, at, 0);
        return 0;
    }
    if (*(const u64*)(h->shared + at) != o->word) {
        misused(w, CHANGED_OBJECT, number, lane, at, o);
        return 0;
    }
    if (!k->clocks) return o;
    const u32 me = w->index * LANES + lane + 1;
    if (h != k) {
        if (far_unordered(k, w, me, h->rank, o->made_by, o->made_at)) log_between(k, RAW, o->made_in, number, h->rank, o->made_by, me, at, h);
        return o;
    }
    const bool known = clock_knows(k, me - 1, column_of(k, o), o->first + 1, 0);
    if (!known && unordered(k, w, me, o->made_by, o->made_at, o->made_sync)) log_hazard(k, RAW, o->made_in, number, o->made_by, me, at);
    return o;
}

__device__ __forceinline__ u32 row_of(const Worker* k, const Object* o, u32 done) {
    return object_row(k, o - async_of(k)->object, done);
}

// Nothing is missing any more: the next phase begins, and who sees that knows what those knew who arrived.
__device__ __noinline__ void complete_phase(Worker* k, Object* o) {
    ++o->phase;
    o->pending = o->expected;
    if (!k->clocks) return;
#pragma unroll 1
    for (u32 fenced = 0; fenced < 2; ++fenced) {
        join_row(k, row_of(k, o, 1) + fenced, row_of(k, o, 0) + fenced);
        if (!fenced) clock_row(k, row_of(k, o, 1))[column_of(k, o)] = o->phase + 1;
    }
}

__device__ __noinline__ void settle_object(Worker* k, Object* o) {
    if (!o->pending && !o->bytes) complete_phase(k, o);
    show_object(k, o);
}

// -- operations of one thread --------------------------------------------------------------------------------------------------
__device__ __forceinline__ u32 operand_of(const Warp* w, u32 value, u32 slot, u32 lane) {
    return slot == ~0u ? value : (u32)read_slot(w, slot, 4, lane);
}

__device__ __noinline__ void mark_object(Worker* k, const Warp* w, u64 at, u32 object, u32 me, u32 number) {
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = at >> shift; g <= (at + 7) >> shift; ++g) {
        Cell* c = &((Cell*)k->shadow)[g];
        c->object = 0;
        check_cell(k, w, c, 1, me, number, g << shift, 0);
        c->object = object;
    }
}

__device__ __noinline__ u32 init_object(Warp* w, const ObjectOp* p, u32 lane, u64 at) {
    Worker* k = (Worker*)w->worker;
    Async* a = async_of(k);
    const u32 count = operand_of(w, p->count, p->count_slot, lane), me = w->index * LANES + lane + 1;
    Object* o = object_at(k, at);
    if (o) return misused(w, LIVE_OBJECT, p->number, lane, at, o);
    if (!count || count > MOST_COUNT) return misused(w, BAD_COUNT, p->number, lane, count, 0);
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i)
        if (a->object[i].at == at) o = &a->object[i];
    if (!o) {
        if (a->objects == MOST_OBJECTS) return misused(w, MANY_OBJECTS, p->number, lane, MOST_OBJECTS, 0);
        o = &a->object[a->objects++];
        o->phase = ~0u;
        if (k->clocks)
#pragma unroll 1
            for (u32 row = 0; row < 4; ++row) fill_row(k, row_of(k, o, 0) + row, 0);
    }
    o->first = ++o->phase;
    o->at = at;
    o->live = 1;
    o->expected = o->pending = count;
    o->bytes = 0;
    o->arriving = o->wanted = o->flying = o->released = o->carries = 0;
    o->made_by = me;
    o->made_at = k->epoch + 1;
    o->made_sync = w->sync;
    o->made_in = p->number;
    if (k->clocks) mark_object(k, w, at, 1 + (o - a->object), me, p->number);
    show_object(k, o);
    return 0;
}

__device__ __noinline__ u32 drop_object(Warp* w, const ObjectOp* p, u32 lane, Object* o) {
    Worker* k = (Worker*)w->worker;
    if (o->arriving || o->flying) return misused(w, BUSY_OBJECT, p->number, lane, o->at, o);
    o->live = 0;
    ++async_of(k)->changes;
    if (k->clocks) mark_object(k, w, o->at, 0, w->index * LANES + lane + 1, p->number);
    return 0;
}

__device__ __noinline__ u32 change_bytes(Warp* w, u32 number, u32 lane, Object* o, i64 by) {
    o->bytes += by;
    o->carries = 1;
    return o->bytes > MOST_COUNT || o->bytes < -(i64)MOST_COUNT ? misused(w, BAD_BYTES, number, lane, o->at, o) : 0;
}

__device__ __noinline__ u32 arrive_at(Warp* w, Worker* h, const ObjectOp* p, u32 lane, Object* o) {
    Worker* k = (Worker*)w->worker;
    const u32 count = operand_of(w, p->count, p->count_slot, lane), bytes = operand_of(w, p->bytes, p->bytes_slot, lane);
    if (!count || count > MOST_COUNT) return misused(w, BAD_COUNT, p->number, lane, count, o);
    if (bytes > MOST_COUNT) return misused(w, BAD_BYTES, p->number, lane, o->at, o);
    if (p->result != ~0u) write_slot(w, p->result, 8, lane, o->word);
    if (bytes && change_bytes(w, p->number, lane, o, bytes)) return 1;
    if (count > o->pending) return misused(w, EXTRA_ARRIVAL, p->number, lane, count, o);
    if (p->no_complete && count == o->pending && !o->bytes) return misused(w, COMPLETES, p->number, lane, count, o);
    if (k->clocks && !p->relaxed) h == k ? give_clock(k, row_of(k, o, 0), w->index * LANES + lane)
                                         : give_far(k, w->index * LANES + lane, h, row_of(h, o, 0));
    o->pending -= count;
    if (p->drop) o->expected -= count;
    settle_object(h, o);
    return 0;
}

// Has the phase completed that a thread asks for: the one of its token, or the present or last one of a parity? 2 after a fault.
__device__ __noinline__ u32 phase_over(Warp* w, const ObjectOp* p, u32 lane, Object* o) {
    if (p->parity) {
        const u32 parity = operand_of(w, p->phase, p->phase_slot, lane);
        if (parity > 1) return misused(w, NO_PARITY, p->number, lane, parity, o), 2;
        return (o->phase - o->first & 1) != parity;
    }
    const u64 token = read_slot(w, p->phase_slot, 8, lane);
    if (token >> 44 != (TOKEN_MARK | o->at >> 3)) return misused(w, WRONG_TOKEN, p->number, lane, o->at, o), 2;
    const u32 behind = o->phase - (u32)(token >> 20) & 0xffffff;
    if (behind > 1) return misused(w, OLD_TOKEN, p->number, lane, behind, o), 2;
    return behind;
}

// A warp goes on behind a wait for bytes: for how many other mbarriers are copies under way?
__device__ __noinline__ void note_stages(Worker* k, const Object* o) {
    const Async* a = async_of(k);
    u32 others = 0;
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i) others += &a->object[i] != o && a->object[i].live && (a->object[i].flying || a->object[i].arriving);
    ++k->stages[others];
}

__device__ __noinline__ u32 wait_for(Warp* w, const ObjectOp* p, u32 lane, Object* o) {
    Worker* k = (Worker*)w->worker;
    const u32 over = phase_over(w, p, lane, o);
    if (over == 2) return 1;
    put_bit(w, p->result, lane, over);
    if (over) {
        w->stalled = 0;
        if (o->carries && lane == lowest(w->mask)) note_stages(k, o);
        if (k->clocks && !p->relaxed) take_clock(k, row_of(k, o, 1), w->index * LANES + lane);
        return 0;
    }
    o->wanted = 1 + o->phase;
    if (w->blocked && w->wait_number == p->number) return 0;        // the first lane is the one that an error names
    w->blocked = 1;
    w->wait_number = p->number;
    w->wait_lane = lane;
    w->wait_object = o - async_of(k)->object;
    w->wait_phase = o->phase - o->first;
    return 0;
}

__device__ __noinline__ u32 use_one(Warp* w, Worker* h, const ObjectOp* p, u32 lane, u64 at) {
    if (p->use == INIT_OBJECT) return init_object(w, p, lane, at);
    Object* o = find_object(w, h, p->number, lane, at);
    if (!o) return 1;
    if (h != (Worker*)w->worker && (p->result != ~0u || p->no_complete)) return misused(w, NOT_IN_SHARED, p->number, lane, 0, o);
    if (p->use == DROP_OBJECT) return drop_object(w, p, lane, o);
    if (p->use == WAIT_FOR) return wait_for(w, p, lane, o);
    if (p->use == ARRIVE_AT) return arrive_at(w, h, p, lane, o);
    const u32 bytes = operand_of(w, p->bytes, p->bytes_slot, lane);
    if (bytes > MOST_COUNT) return misused(w, BAD_BYTES, p->number, lane, at, o);
    if (change_bytes(w, p->number, lane, o, p->use == EXPECT_BYTES ? (i64)bytes : -(i64)bytes)) return 1;
    settle_object(h, o);
    return 0;
}

// One mbarrier instruction, for one lane after the other. Returns 1 after a fault.
extern "C" __device__ u32 use_object(Warp* w, const ObjectOp* p) {
    u64 address[LANES];
    Worker* home[LANES];
    Worker* k = (Worker*)w->worker;
    if (!w->mask) return 0;
    if (p->use == PENDING_OF) {
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) {
            const u32 l = lowest(left);
            const u64 token = read_slot(w, p->phase_slot, 8, l);
            if (!(token >> 63)) return misused(w, WRONG_TOKEN, p->number, l, 0, 0);
            if (p->result != ~0u) write_slot(w, p->result, 4, l, token & MOST_COUNT);
        }
        return 0;
    }
    const u32 far = p->use == ARRIVE_AT || p->use == EXPECT_BYTES || p->use == COMPLETE_BYTES;     // the others only in the own block
    if (far ? places_in_cluster(w, &p->object, address, home) : shared_places(w, &p->object, address)) return 1;
    if (w->traced) record(w, p->number, 0, address);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (use_one(w, far ? home[l] : k, p, l, address[l])) return 1;
    }
    ++k->epoch;                 // what comes behind an arrival is told from what came before
    return 0;
}

// fence.proxy.async: what the lanes know to be written, products of warpgroups may read from here on.
__device__ __noinline__ void fence_cells(Worker* k, const Warp* w) {
    const Launch* L = (const Launch*)k->launch;
    const u64 cells = (L->shared_bytes >> L->granule_shift) + 1;
    settle(k);
#pragma unroll 1
    for (u64 i = 0; i < cells; ++i) {
        Cell* c = &((Cell*)k->shadow)[i];
        if (!(c->written & BY_GENERIC)) continue;
        u32 known = !c->via && (c->writer - 1) / LANES == w->index && w->mask >> (c->writer - 1) % LANES & 1;
#pragma unroll 1
        for (u32 left = k->clocks ? w->mask : w->mask & -w->mask; left && !known; left &= left - 1)    // without clocks all know the same
            known = !write_unordered(k, w, c, w->index * LANES + lowest(left) + 1);
        if (known) c->written &= ~BY_GENERIC;
    }
}

// fence.mbarrier_init: a thread hands on with an arrival at the cluster's barrier which mbarriers it has made, even with a relaxed one.
__device__ __noinline__ void release_objects(Worker* k, u32 thread) {
    Async* a = async_of(k);
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i) a->object[i].released |= a->object[i].made_by == thread + 1;
}

// fence.proxy.async for bulk copies: what a thread knows now, it knows for the async proxy too.
__device__ __noinline__ void fence_thread(Worker* k, u32 thread) {
    Async* a = async_of(k);
    u32* known = clock_row(k, fenced_row(k, thread));
    join_row(k, fenced_row(k, thread), thread);
#pragma unroll 1
    for (u32 t = 0; t < a->threads; ++t) known[t] = max(known[t], k->floor);
    known[thread] = k->epoch + 1;
    if (a->far) known[far_column(k, k->rank, thread / LANES)] = k->epoch + 1;
}

extern "C" __device__ u32 fence_proxy(Warp* w, const ProxyFence* f) {
    Worker* k = (Worker*)w->worker;
    if (k->products && ((const Launch*)k->launch)->racecheck && !f->objects && w->mask) fence_cells(k, w);
    if (!k->clocks) return 0;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 thread = w->index * LANES + lowest(left);
        f->objects ? release_objects(k, thread) : fence_thread(k, thread);
    }
    ++k->epoch;
    return 0;
}
