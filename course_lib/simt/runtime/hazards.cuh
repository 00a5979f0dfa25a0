// hazards.cuh -- accesses to shared memory that nothing puts in order

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
}

// Has nothing separated an earlier access (thread, epoch, sync) from this one of `me`?
__device__ __forceinline__ bool unordered(const Worker* k, const Warp* w, u32 me, u32 thread, u32 epoch, u32 sync) {
    if (!thread || thread == me || epoch != k->epoch + 1) return false;
    return (thread - 1) / LANES != w->index || sync == w->sync;
}

enum { IN_FLIGHT = 2 };             // mark in Cell.written: an asynchronous copy goes there that has not been waited for
enum { BY_ATOMIC = 0x80000000u };   // mark in Cell.write_access; atomics are ordered among themselves

// An atomic reads and writes; it races with plain accesses alone.
__device__ __noinline__ void check_atomic(Worker* k, const Warp* w, Cell* c, u32 me, u32 access, u64 address) {
    if (!c->written) log_hazard(k, UNINITIALISED, access, access, me, me, address);
    if (!(c->write_access & BY_ATOMIC) && unordered(k, w, me, c->writer, c->write_epoch, c->write_sync))
        log_hazard(k, WAW, c->write_access, access, c->writer, me, address);
    if (unordered(k, w, me, c->reader, c->read_epoch, c->read_sync))
        log_hazard(k, WAR, c->read_access, access, c->reader, me, address);
    else if (unordered(k, w, me, c->reader2, c->read_epoch, c->read_sync2))
        log_hazard(k, WAR, c->read_access2, access, c->reader2, me, address);
    c->written = 1;
    c->writer = me;
    c->write_epoch = k->epoch + 1;
    c->write_sync = w->sync;
    c->write_access = access | BY_ATOMIC;
}

__device__ __noinline__ void check_cell(Worker* k, const Warp* w, Cell* c, u32 store, u32 me, u32 access, u64 address, u32 same) {
    if (c->written & IN_FLIGHT) {   // not even in order for the thread that copies
        log_hazard(k, store ? WAW : RAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
        return;
    }
    if (store) {
        if (!same && unordered(k, w, me, c->writer, c->write_epoch, c->write_sync))
            log_hazard(k, WAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
        if (unordered(k, w, me, c->reader, c->read_epoch, c->read_sync))
            log_hazard(k, WAR, c->read_access, access, c->reader, me, address);
        else if (unordered(k, w, me, c->reader2, c->read_epoch, c->read_sync2))
            log_hazard(k, WAR, c->read_access2, access, c->reader2, me, address);
        c->written = 1;
        c->writer = me;
        c->write_epoch = k->epoch + 1;
        c->write_sync = w->sync;
        c->write_access = access;
        return;
    }
    if (!c->written) log_hazard(k, UNINITIALISED, access, access, me, me, address);
    if (unordered(k, w, me, c->writer, c->write_epoch, c->write_sync))
        log_hazard(k, RAW, c->write_access & ~BY_ATOMIC, access, c->writer, me, address);
    if (c->read_epoch != k->epoch + 1 || c->reader == me) {
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
