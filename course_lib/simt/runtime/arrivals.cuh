// arrivals.cuh -- cp.async.mbarrier.arrive: arrivals that come when a thread's cp.async have; and the list of all that is under way

__device__ __forceinline__ Flight* take_flight(Async* a) {
    Flight* f = &a->flight[a->flights++];
    f->over = f->boxed = f->from = f->sender = 0;
    return f;
}

__device__ __forceinline__ Box* box_of(const Async* a, const Flight* f) { return &((Box*)a->boxes)[f - a->flight]; }

// Forget what is over.
__device__ __noinline__ void drop_flights(Async* a) {
    u32 kept = 0, holding = 0;
#pragma unroll 1
    for (u32 i = 0; i < a->flights; ++i) {
        if (a->flight[i].over) continue;
        holding |= a->flight[i].data != 0;
        if (kept != i) {
            if (a->flight[i].boxed) *box_of(a, &a->flight[kept]) = *box_of(a, &a->flight[i]);
            a->flight[kept] = a->flight[i];
        }
        ++kept;
    }
    a->flights = kept;
    if (!holding) a->data_used = 0;
}

// What a copy wrote that tells an mbarrier is there for those who see its present phase complete.
__device__ __noinline__ void mark_landed(Worker* k, u64 at, u32 bytes, const Object* o, u32 proxied) {
    const u32 shift = ((const Launch*)k->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = at >> shift; bytes && g <= (at + bytes - 1) >> shift; ++g) {
        Cell* c = &((Cell*)k->shadow)[g];
        c->written = proxied ? 1 : 1 | BY_GENERIC;
        c->via = 1 + (o - async_of(k)->object);
        c->proxied = proxied;
        c->write_epoch = o->phase + 2;         // as complete_phase counts them
        ((u32*)k->epochs)[g] = k->epoch + 1;
    }
}

__device__ u32 in_tensor(const Worker* k, const Box* b, u64 at, u64 granule);      // of boxes.cuh

// Racecheck: a copy reads or writes these bytes from now on, through the async proxy; of a box only what lies in the tensor (or 0: all).
__device__ __noinline__ void touch_proxied(Warp* w, u32 number, u32 store, u32 lane, u64 at, u32 bytes, const Box* box) {
    Worker* k = (Worker*)w->worker;
    const Launch* L = (const Launch*)w->launch;
    const u32 me = w->index * LANES + lane + 1;
#pragma unroll 1
    for (u64 g = at >> L->granule_shift; g <= (at + bytes - 1) >> L->granule_shift; ++g) {
        Cell* c = &((Cell*)k->shadow)[g];
        if (box && !in_tensor(k, box, at, g)) continue;
        check_cell(k, w, c, store, me, number, g << L->granule_shift, 0);
        if (store || c->object) continue;
        ++c->source;
        c->source_access = number;
        c->source_thread = me;
    }
    if (store) mark_flight(w, at, bytes, 1);
}

// The copies of a lane that it had issued before its cp.async.mbarrier.arrive, and then the arrival.
__device__ __noinline__ void land_arrival(Worker* k, Flight* f, Object* o, u32 lane) {
    Warp* w = (Warp*)(k->warps + (f->thread - 1) / LANES * ((const Launch*)k->launch)->warp_bytes);
    Queue* q = k->queues ? queue_of(w) : 0;
#pragma unroll 1
    for (u32 i = 0; q && i < q->count; ++i) {
        InFlight* copy = in_flight(q, i);
        if (!(copy->mask >> lane & 1) || (i64)copy->serial >= (i64)f->group) continue;
        land(w, copy, 1u << lane);
        if (k->clocks) mark_landed(k, copy->target[lane], copy->bytes, o, 0);
    }
    if (q) drop_empty(q);
    f->bytes &= ~(1u << lane);
    f->over = !f->bytes;
    --o->arriving;
    --o->pending;
    settle_object(k, o);
}

__device__ void land_flights(Worker* k, Object* only, u32 all);
__device__ void write_target(Worker* k, Flight* f);

// cp.async.mbarrier.arrive: the mbarrier is told when the copies have arrived that a thread has issued before.
extern "C" __device__ u32 arrive_behind_copies(Warp* w, const ObjectOp* p) {
    u64 address[LANES];
    Worker* k = (Worker*)w->worker;
    Async* a = async_of(k);
    if (!w->mask) return 0;
    if (shared_places(w, &p->object, address)) return 1;
    if (w->traced) record(w, p->number, 0, address);
#pragma unroll 1
    for (u32 rest = w->mask; rest;) {
        const u32 first = lowest(rest);
        u32 lanes = 0;
        Object* o = 0;
#pragma unroll 1
        for (u32 left = rest; left; left &= left - 1) {
            const u32 l = lowest(left);
            if (address[l] != address[first]) continue;
            o = find_object(w, k, p->number, l, address[l]);
            if (!o) return 1;
            lanes |= left & -left;
            if (p->free) ++o->pending;
            if (o->pending > MOST_COUNT) return misused(w, BAD_COUNT, p->number, l, o->pending, o);
            if (++o->arriving > o->pending) return misused(w, EXTRA_ARRIVAL, p->number, l, 1, o);
        }
        rest &= ~lanes;
        o->carries = 1;
        show_object(k, o);
        if (a->flights == MOST_FLIGHTS) land_flights(k, 0, 1);
        Flight* f = take_flight(a);
        f->kind = ARRIVAL;
        f->number = p->number;
        f->thread = w->index * LANES + first + 1;
        f->object = o - a->object;
        f->bytes = lanes;
        f->group = k->queues ? queue_of(w)->issued : 0;
    }
    return 0;
}
