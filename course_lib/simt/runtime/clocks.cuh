// clocks.cuh -- what each thread knows of the others' accesses, for racecheck of a kernel with mbarriers or bulk copies

// An mbarrier orders those who arrived before those who saw the phase complete, thread by thread. So each thread has a row of numbers:
// up to which epoch it knows the accesses of each other thread, and behind those, 1 + the phase of each mbarrier that it knows has begun.
// A second row holds what of that a fence.proxy.async stands behind: the rest is unknown to the async proxy. Named barriers and mbarriers
// hold such rows too. What lies before a barrier of the whole block is known to all; `floor` says that.

__device__ __forceinline__ Async* async_of(const Worker* k) { return (Async*)k->late; }

__device__ __forceinline__ u32* clock_row(const Worker* k, u32 row) { return (u32*)k->clocks + (u64)row * async_of(k)->columns; }

// Rows: the threads', the same behind a fence, two of each named barrier, two and two of the cluster's, and of each mbarrier what arrived and what its phase completed.
__device__ __forceinline__ u32 fenced_row(const Worker* k, u32 thread) { return async_of(k)->threads + thread; }
__device__ __forceinline__ u32 bar_row(const Worker* k, u32 id) { return 2 * (async_of(k)->threads + id); }
__device__ __forceinline__ u32 cluster_row(const Worker* k, u32 done) { return 2 * (async_of(k)->threads + 16) + 2 * done; }
__device__ __forceinline__ u32 object_row(const Worker* k, u32 object, u32 done) { return cluster_row(k, 2) + 4 * object + 2 * done; }

// The column of a warp of the cluster. Other blocks know a block's accesses warp by warp: never less than they do, sometimes more.
__device__ __forceinline__ u32 far_column(const Worker* k, u32 rank, u32 warp) {
    return async_of(k)->far + rank * ((const Launch*)k->launch)->warps + warp;
}

__device__ __noinline__ void join_row(Worker* k, u32 to, u32 from) {
    u32* a = clock_row(k, to);
    const u32* b = clock_row(k, from);
    const u32 columns = async_of(k)->columns;
#pragma unroll 1
    for (u32 c = 0; c < columns; ++c) a[c] = max(a[c], b[c]);
}

__device__ __noinline__ void fill_row(Worker* k, u32 row, u32 value) {
    u32* a = clock_row(k, row);
    const u32 columns = async_of(k)->columns;
#pragma unroll 1
    for (u32 c = 0; c < columns; ++c) a[c] = value;
}

// A thread gives what it knows, and what it has done, to a pair of rows; or takes what stands there.
__device__ __noinline__ void give_clock(Worker* k, u32 row, u32 thread) {
    join_row(k, row, thread);
    join_row(k, row + 1, fenced_row(k, thread));
    clock_row(k, row)[thread] = k->epoch + 1;
    if (async_of(k)->far) clock_row(k, row)[far_column(k, k->rank, thread / LANES)] = k->epoch + 1;
}

__device__ __noinline__ void take_clock(Worker* k, u32 row, u32 thread) {
    join_row(k, thread, row);
    join_row(k, fenced_row(k, thread), row + 1);
}

// Does a thread know what `column` did up to `epoch`; the async proxy through it, if `fenced`?
__device__ __forceinline__ bool clock_knows(const Worker* k, u32 thread, u32 column, u32 epoch, u32 fenced) {
    return clock_row(k, fenced ? fenced_row(k, thread) : thread)[column] >= epoch;
}

// A thread of another block gives what it knows of the cluster to a pair of rows of the block h (far.cuh).
__device__ void give_far(Worker* k, u32 thread, Worker* h, u32 row);

// Lanes of a warp have waited for each other.
__device__ __noinline__ void join_lanes(Worker* k, const Warp* w, u32 lanes) {
    if (!k->clocks || !(lanes & (lanes - 1))) return;
    const u32 base = w->index * LANES, first = base + lowest(lanes), rest = lanes & (lanes - 1);
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 thread = base + lowest(left);
        join_row(k, first, thread);
        join_row(k, fenced_row(k, first), fenced_row(k, thread));
        clock_row(k, first)[thread] = k->epoch + 1;
    }
#pragma unroll 1
    for (u32 left = rest; left; left &= left - 1) {
        join_row(k, base + lowest(left), first);
        join_row(k, fenced_row(k, base + lowest(left)), fenced_row(k, first));
    }
    ++k->epoch;
}

// All threads of the block have waited for each other.
__device__ __noinline__ void join_block(Worker* k) {
    if (!k->clocks) return;
    const u32 threads = async_of(k)->threads;
#pragma unroll 1
    for (u32 t = 1; t < threads; ++t) {
        join_row(k, 0, t);
        join_row(k, fenced_row(k, 0), fenced_row(k, t));
    }
    if (async_of(k)->far)
#pragma unroll 1
        for (u32 i = 0; i < threads / LANES; ++i) clock_row(k, 0)[far_column(k, k->rank, i)] = k->epoch;
#pragma unroll 1
    for (u32 t = 1; t < threads; ++t) {
        join_row(k, t, 0);
        join_row(k, fenced_row(k, t), fenced_row(k, 0));
    }
}

// A new block: nobody knows anything, and nothing is under way.
__device__ __noinline__ void clear_async(Worker* k) {
    if (!k->late) return;
    Async* a = async_of(k);
    const u32 rows = object_row(k, a->objects, 0);
    a->objects = a->flights = a->changes = a->seen_changes = a->quiet = a->ready = 0;
    a->data_used = 0;
#pragma unroll 1
    for (u32 t = 0; t < a->threads; ++t) a->committed[t] = 0;
    if (k->clocks)
#pragma unroll 1
        for (u32 row = 0; row < rows; ++row) fill_row(k, row, 0);
}
