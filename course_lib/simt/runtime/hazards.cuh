// hazards.cuh -- accesses to shared memory that nothing puts in order

// Cells hold what is known about each granule exactly. Uniform code looks at less: `epochs` has the barrier epoch of the last
// write to each granule, `lines` that of the last reading of each 128 bytes. When these rule a hazard out, the access is only
// noted. A barrier of the whole block makes the notes worthless; before anybody looks at a cell they are settled, in order.

__device__ __noinline__ void log_hazard(Worker* k, u32 kind, u32 first, u32 second, u32 a, u32 b, u64 address) {
    Hazard* log = (Hazard*)k->hazards;
#pragma unroll 1
    for (u64 i = 0; i < k->hazard_count; ++i)
        if (log[i].kind == kind && log[i].first == first && log[i].second == second) {
            ++log[i].count;
            return;
        }
    if (k->hazard_count == MAX_HAZARDS) return;
    Hazard* h = &log[k->hazard_count++];
    const Warp* w = (const Warp*)k->warps;
    h->kind = kind;
    h->first = first;
    h->second = second;
    h->block[0] = w->block[0];
    h->block[1] = w->block[1];
    h->block[2] = w->block[2];
    h->first_thread = a;
    h->second_thread = b;
    h->address = address;
    h->count = 1;
    h->first_in = h->lies_in = 0;
}

__device__ u32 check_from_afar(Worker* k, const Warp* w, Cell* c, u32 kind, u32 me, u32 access, u64 address);     // far.cuh

// Has nothing separated an earlier access (thread, epoch, sync) from this one of `me`?
__device__ __forceinline__ bool unordered(const Worker* k, const Warp* w, u32 me, u32 thread, u32 epoch, u32 sync) {
    if (!thread || thread == me || epoch <= k->floor) return false;
    if (k->clocks && clock_knows(k, me - 1, thread - 1, epoch, 0)) return false;
    const u32 other = (thread - 1) / LANES;
    if (k->named && epoch <= k->known[w->index * 32 + other]) return false;
    return other != w->index || sync == w->sync;
}

// The same for the last write to a cell. What a copy wrote that told an mbarrier is there for those who have seen its phase complete.
__device__ __forceinline__ bool write_unordered(const Worker* k, const Warp* w, const Cell* c, u32 me) {
    if (c->via) return !clock_knows(k, me - 1, async_of(k)->threads + c->via - 1, c->write_epoch, 0);
    return unordered(k, w, me, c->writer, c->write_epoch, c->write_sync);
}

enum { IN_FLIGHT = 2, BY_GENERIC = 4 };   // marks in Cell.written, beside 1: an asynchronous copy goes there that has not been waited for;
                                          // the generic proxy wrote, so that the async proxy may read older bytes
enum { BY_ATOMIC = 0x80000000u };   // mark in Cell.write_access; atomics are ordered among themselves

__device__ void check_products(Worker* k, const Warp* w, u64 granule, u32 me, u32 access, u64 address);   // those that read a granule

// An access to the bytes of an mbarrier, or one that changes what a bulk copy has still to read.
__device__ __noinline__ void check_async(Worker* k, const Cell* c, u32 store, u32 me, u32 access, u64 address) {
    if (c->object) {
        const Object* o = &async_of(k)->object[c->object - 1];
        log_hazard(k, OPAQUE, o->made_in, access, o->made_by, me, address);
    }
    if (store && c->source) log_hazard(k, WAR, c->source_access, access, c->source_thread, me, address);
}

__device__ __forceinline__ void write_cell(Worker* k, const Warp* w, Cell* c, u32 me, u32 access) {
    c->written = 1 | BY_GENERIC;
    c->writer = me;
    c->write_epoch = ((u32*)k->epochs)[c - (Cell*)k->shadow] = k->epoch + 1;
    c->write_sync = w->sync;
    c->write_access = access;
    c->via = c->proxied = 0;
}

__device__ __forceinline__ Readers* readers_of(const Worker* k, const Cell* c) {
    return (Readers*)k->readers + (c - (const Cell*)k->shadow) * ((const Launch*)k->launch)->warps;
}

// Where mbarriers order accesses, warps run far apart: each has a reading of its own.
__device__ __noinline__ void check_each_reading(Worker* k, const Warp* w, Cell* c, u32 me, u32 access, u64 address) {
    Readers* r = readers_of(k, c);
    const u32 warps = ((const Launch*)k->launch)->warps;
#pragma unroll 1
    for (u32 i = 0; i < warps; ++i) {
        const u32 epoch = r[i].epoch;
        u32 left = epoch > k->floor ? r[i].lanes : 0;
        r[i].epoch = 0;
#pragma unroll 1
        for (; left; left &= left - 1) {
            const u32 thread = i * LANES + lowest(left) + 1;
            if (!unordered(k, w, me, thread, epoch, r[i].sync)) continue;
            log_hazard(k, WAR, r[i].access, access, thread, me, address);
            break;
        }
    }
}

__device__ __noinline__ void note_own_reading(Worker* k, const Warp* w, const Cell* c, u32 me, u32 access) {
    Readers* r = readers_of(k, c) + (me - 1) / LANES;
    const u32 lane = 1u << (me - 1) % LANES;
    r->lanes = r->epoch == k->epoch + 1 ? r->lanes | lane : lane;
    r->epoch = k->epoch + 1;
    r->access = access;
    r->sync = w->sync;
}

// A write meets the readings that nothing puts before it.
__device__ __forceinline__ void check_readings(Worker* k, const Warp* w, Cell* c, u32 me, u32 access, u64 address) {
    if (k->products) check_products(k, w, c - (Cell*)k->shadow, me, access, address);
    if (k->readers) check_each_reading(k, w, c, me, access, address);
    else if (unordered(k, w, me, c->reader, c->read_epoch, c->read_sync))
        log_hazard(k, WAR, c->read_access, access, c->reader, me, address);
    else if (unordered(k, w, me, c->reader2, c->read_epoch, c->read_sync2))
        log_hazard(k, WAR, c->read_access2, access, c->reader2, me, address);
}

__device__ __forceinline__ void read_cell(Worker* k, const Warp* w, Cell* c, u32 me, u32 access) {
    if (k->readers) note_own_reading(k, w, c, me, access);
    else if (c->read_epoch != k->epoch + 1 || c->reader == me) {
        if (c->read_epoch != k->epoch + 1) c->reader2 = 0;
        c->reader = me;
        c->read_epoch = k->epoch + 1;
        c->read_sync = w->sync;
        c->read_access = access;
    } else {
        c->reader2 = me;
        c->read_access2 = access;
        c->read_sync2 = w->sync;
    }
}

// An atomic reads and writes; it races with plain accesses alone.
__device__ __noinline__ void check_atomic(Worker* k, const Warp* w, Cell* c, u32 me, u32 access, u64 address) {
    k->cells_used = 1;
    if (k->far && check_from_afar(k, w, c, ATOMIC, me, access, address)) return;
    if (k->clocks) check_async(k, c, 1, me, access, address);
    if (c->written & IN_FLIGHT) {
        log_hazard(k, WAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
        return;
    }
    if (!((u32*)k->epochs)[c - (Cell*)k->shadow]) log_hazard(k, UNINITIALISED, access, access, me, me, address);
    if (!(c->write_access & BY_ATOMIC) && write_unordered(k, w, c, me))
        log_hazard(k, WAW, c->write_access, access, c->writer, me, address);
    check_readings(k, w, c, me, access, address);
    write_cell(k, w, c, me, access | BY_ATOMIC);
}

__device__ __noinline__ void check_cell(Worker* k, const Warp* w, Cell* c, u32 store, u32 me, u32 access, u64 address, u32 same) {
    k->cells_used = 1;
    if (k->far && check_from_afar(k, w, c, store ? STORE : LOAD, me, access, address)) return;
    if (k->clocks) check_async(k, c, store, me, access, address);
    if (c->written & IN_FLIGHT) {   // not even in order for the thread that copies
        log_hazard(k, store ? WAW : RAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
        return;
    }
    if (store) {
        if (!same && write_unordered(k, w, c, me))
            log_hazard(k, WAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
        check_readings(k, w, c, me, access, address);
        write_cell(k, w, c, me, access);
        return;
    }
    ((u32*)k->lines)[address / LINE_BYTES] = k->epoch + 1;
    if (!((u32*)k->epochs)[c - (Cell*)k->shadow]) log_hazard(k, UNINITIALISED, access, access, me, me, address);
    if (write_unordered(k, w, c, me))
        log_hazard(k, RAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
    read_cell(k, w, c, me, access);
}

__device__ __noinline__ void apply_note(Worker* k, const Note* n, const u64* address, u32 shift) {
    Warp* w = (Warp*)(k->warps + (n->warp & 0x7fffffffu) * ((const Launch*)k->launch)->warp_bytes);
    const Access* a = (const Access*)n->access;
    const u32 sync = w->sync;
    w->sync = n->sync;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
#pragma unroll 1
        for (u64 g = address[l] >> shift; g <= (address[l] + a->width * a->count - 1) >> shift; ++g)
            check_cell(k, w, &((Cell*)k->shadow)[g], a->kind == STORE, w->index * LANES + l + 1, a->number, g << shift, 0);
    w->sync = sync;
}

// Bring the cells up to date.
extern "C" __device__ void settle(Worker* k) {
    const u32 shift = ((const Launch*)k->launch)->granule_shift;
    u64 address[LANES], at = k->notes;
#pragma unroll 1
    while (at < k->next_note) {
        const Note* n = (const Note*)at;
        const u32 bytes = n->warp >> 31 ? 8 : 4;
        at += sizeof(Note);
        const u64 lanes = n->lanes ? n->lanes : at;
        if (!n->lanes) at += bytes * LANES;
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l)
            address[l] = n->base + (bytes == 8 ? ((const i64*)lanes)[l] : (i64)((const int*)lanes)[l]);
        apply_note(k, n, address, shift);
    }
    k->next_note = k->notes;
}

// Note that the bytes [first, end) of shared memory are read in this epoch.
extern "C" __device__ void mark_lines(Worker* k, u64 first, u64 end) {
#pragma unroll 1
    for (u64 i = first / LINE_BYTES; i <= (end - 1) / LINE_BYTES; ++i) ((u32*)k->lines)[i] = k->epoch + 1;
}

// May any of the bytes [first, end) have been read in this epoch?
extern "C" __device__ u32 lines_read(const Worker* k, u64 first, u64 end) {
#pragma unroll 1
    for (u64 i = first / LINE_BYTES; i <= (end - 1) / LINE_BYTES; ++i)
        if (((const u32*)k->lines)[i] == k->epoch + 1) return 1;
    return 0;
}
