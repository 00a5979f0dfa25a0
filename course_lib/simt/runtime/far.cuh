// far.cuh -- accesses to the shared memory of another block of the cluster, for racecheck

// A granule of a block's shared memory has a FarCell for what the other blocks did there, beside the Cell of its own threads. What a thread
// knows of another block stands in its clock, in a column for each warp of the cluster (clocks.cuh): an arrival at the cluster's barrier, or
// at an mbarrier of the other block, puts it there. Accesses of one warp count as ordered; of each block the last reading is remembered.

__device__ __forceinline__ FarCell* far_cell(const Worker* k, u64 granule) { return &((FarCell*)k->far)[granule]; }

// What row `from` of the block h knows of the cluster's warps, row `to` of k knows now.
__device__ __noinline__ void join_far(Worker* k, u32 to, const Worker* h, u32 from) {
    u32* a = clock_row(k, to);
    const u32* b = clock_row(h, from);
#pragma unroll 1
    for (u32 c = async_of(k)->far; c < async_of(k)->columns; ++c) a[c] = max(a[c], b[c]);
}

__device__ void give_far(Worker* k, u32 thread, Worker* h, u32 row) {
    join_far(h, row, k, thread);
    join_far(h, row + 1, k, fenced_row(k, thread));
    u32* known = &clock_row(h, row)[far_column(h, k->rank, thread / LANES)];
    *known = max(*known, k->epoch + 1);
}

// Does nothing put an access of the block `rank` (its thread and epoch) before what `me` does now?
__device__ bool far_unordered(const Worker* k, const Warp* w, u32 me, u32 rank, u32 thread, u32 epoch) {
    if (!thread) return false;
    if (rank != k->rank) return clock_row(k, me - 1)[far_column(k, rank, (thread - 1) / LANES)] < epoch;
    return (thread - 1) / LANES != w->index && unordered(k, w, me, thread, epoch, 0);
}

// Note two accesses to the memory of the block h: the first by a thread of the block `rank`, the second by k's.
__device__ void log_between(Worker* k, u32 kind, u32 first, u32 second, u32 rank, u32 a, u32 b, u64 address, const Worker* h) {
    const u64 before = k->hazard_count;
    log_hazard(k, kind, first & ~BY_ATOMIC, second, a, b, address);
    if (k->hazard_count == before) return;
    Hazard* noted = &((Hazard*)k->hazards)[before];
    noted->first_in = 1 + ((const Worker*)((const Cluster*)k->cluster)->worker[rank])->block_number;
    noted->lies_in = 1 + h->block_number;
}

__device__ __noinline__ void forget_far(FarCell* f) {
    f->block = 0;
#pragma unroll 1
    for (u32 r = 0; r < MOST_BLOCKS; ++r) f->reading[r].thread = 0;
}

// The last write and the readings of other blocks than the one that has the granule.
__device__ __noinline__ void check_others(Worker* k, const Warp* w, const Worker* h, const FarCell* f, u32 kind, u32 me, u32 access, u64 at) {
    const u32 both = kind == ATOMIC && f->access & BY_ATOMIC;
    if (f->block && !both && far_unordered(k, w, me, f->block - 1, f->thread, f->epoch))
        log_between(k, kind == LOAD ? RAW : WAW, f->access, access, f->block - 1, f->thread, me, at, h);
#pragma unroll 1
    for (u32 r = 0; kind != LOAD && r < ((const Cluster*)k->cluster)->blocks; ++r)
        if (far_unordered(k, w, me, r, f->reading[r].thread, f->reading[r].epoch))
            log_between(k, WAR, f->reading[r].access, access, r, f->reading[r].thread, me, at, h);
}

// An access of the block's own thread. Returns 1 when a copy from another block is still under way to the granule.
__device__ u32 check_from_afar(Worker* k, const Warp* w, Cell* c, u32 kind, u32 me, u32 access, u64 address) {
    FarCell* f = far_cell(k, c - (const Cell*)k->shadow);
    if (f->block && c->written & IN_FLIGHT) {
        log_between(k, kind == LOAD ? RAW : WAW, f->access, access, f->block - 1, f->thread, me, address, k);
        return 1;
    }
    check_others(k, w, k, f, kind, me, access, address);
    if (kind != LOAD) forget_far(f);
    return 0;
}

// The accesses of the block's own threads, as a thread of another block sees them.
__device__ __noinline__ void check_owners(Worker* k, const Warp* w, Worker* h, Cell* c, u32 kind, u32 me, u32 access, u64 at) {
    const u32 both = kind == ATOMIC && c->write_access & BY_ATOMIC;
    if (!c->via && c->writer && !both && far_unordered(k, w, me, h->rank, c->writer, c->write_epoch))
        log_between(k, kind == LOAD ? RAW : WAW, c->write_access, access, h->rank, c->writer, me, at, h);
    const Readers* r = readers_of(h, c);
#pragma unroll 1
    for (u32 i = 0; kind != LOAD && i < ((const Launch*)k->launch)->warps; ++i)
        if (r[i].epoch && r[i].lanes && far_unordered(k, w, me, h->rank, i * LANES + lowest(r[i].lanes) + 1, r[i].epoch))
            log_between(k, WAR, r[i].access, access, h->rank, i * LANES + lowest(r[i].lanes) + 1, me, at, h);
}

__device__ __noinline__ void touch_one(Worker* k, const Warp* w, Worker* h, u64 g, u32 number, u32 me, u64 at, u32 kind) {
    Cell* c = &((Cell*)h->shadow)[g];
    FarCell* f = far_cell(h, g);
    if (c->written & IN_FLIGHT) {
        if (f->block) log_between(k, kind == LOAD ? RAW : WAW, f->access, number, f->block - 1, f->thread, me, at, h);
        else log_between(k, kind == LOAD ? RAW : WAW, c->write_access, number, h->rank, c->writer, me, at, h);
        return;
    }
    if (kind == LOAD && !((u32*)h->epochs)[g]) {
        log_between(k, UNINITIALISED, number, number, k->rank, me, me, at, h);
        return;
    }
    check_owners(k, w, h, c, kind, me, number, at);
    check_others(k, w, h, f, kind, me, number, at);
    if (kind == LOAD) {
        f->reading[k->rank].thread = me;
        f->reading[k->rank].epoch = k->epoch + 1;
        f->reading[k->rank].access = number;
        return;
    }
    forget_far(f);
    f->block = 1 + k->rank;
    f->thread = me;
    f->epoch = k->epoch + 1;
    f->access = kind == ATOMIC ? number | BY_ATOMIC : number;
    c->writer = c->via = c->proxied = 0;
    c->written = kind == VALUE ? IN_FLIGHT : 1 | BY_GENERIC;
    ((u32*)h->epochs)[g] = h->epoch + 1;
}

// An ordinary store of the block `rank` comes before a copy of `me`: does the async proxy not know of it?
__device__ __noinline__ bool far_unfenced(const Worker* k, const Warp* w, u32 me, u32 rank, u32 thread, u32 epoch) {
    if (!thread || far_unordered(k, w, me, rank, thread, epoch)) return false;
    return clock_row(k, fenced_row(k, me - 1))[far_column(k, rank, (thread - 1) / LANES)] < epoch;
}

// A thread is about to copy from or to the bytes [at, at + bytes) of the block h: has a fence.proxy.async put the ordinary stores there,
// by whichever block, before the copy?
__device__ void check_fences(Warp* w, Worker* h, u32 number, u32 lane, u64 at, u32 bytes) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift, me = w->index * LANES + lane + 1;
    if (!k->clocks) return;
#pragma unroll 1
    for (u64 g = at >> shift; g <= (at + bytes - 1) >> shift; ++g) {
        const Cell* c = &((Cell*)h->shadow)[g];
        const FarCell* f = h->far ? far_cell(h, g) : 0;
        const u32 first = c->write_access & ~BY_ATOMIC, column = c->via ? async_of(k)->threads + c->via - 1 : c->writer - 1;
        if (!(c->written & 1)) continue;
        if (f && f->block && far_unfenced(k, w, me, f->block - 1, f->thread, f->epoch))
            log_between(k, UNFENCED, f->access, number, f->block - 1, f->thread, me, g << shift, h);
        if (!c->writer || c->proxied) continue;
        if (h == k) {
            if (!write_unordered(k, w, c, me) && !clock_knows(k, me - 1, column, c->write_epoch, 1))
                log_hazard(k, UNFENCED, first, number, c->writer, me, g << shift);
        } else if (!c->via && far_unfenced(k, w, me, h->rank, c->writer, c->write_epoch))
            log_between(k, UNFENCED, first, number, h->rank, c->writer, me, g << shift, h);
    }
}

// A thread reads, writes, or sends something to (VALUE) the bytes [at, at + bytes) of the block h.
__device__ void touch_far(Warp* w, Worker* h, u32 number, u32 lane, u64 at, u32 bytes, u32 kind) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
    if (!h->far) return;
    h->far_used = h->cells_used = 1;
#pragma unroll 1
    for (u64 g = at >> shift; g <= (at + bytes - 1) >> shift; ++g)
        touch_one(k, w, h, g, number, w->index * LANES + lane + 1, g << shift, kind);
}

// What another block sent has come: whoever sees the phase of the mbarrier complete knows of it.
__device__ void land_from_afar(Worker* k, u64 at, u32 bytes) {
    const u32 shift = ((const Launch*)k->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = at >> shift; g <= (at + bytes - 1) >> shift; ++g) far_cell(k, g)->block = 0;
}

__device__ void check_peers(Warp* w, const Access* a, const u64* address) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        u64 at = address[l];
        Worker* h = peer_at(w, a->number, l, &at, a->width * a->count);
        if (h) touch_far(w, h, a->number, l, at, a->width * a->count, a->kind);
    }
}
