// schedule.cuh -- warps and thread blocks

typedef int (*Code)(Warp*);

// Run one warp until it waits, ends or fails.
__device__ __noinline__ u32 run_warp(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
#pragma unroll 1
    while (true) {
        const u32 status = w->in_uniform ? ((Code)L->uniform)(w) : ((Code)L->reference)(w);
        if (status == DIVERGED) {
            leave_uniform(w);
            w->in_uniform = 0;
            w->no_uniform = 1;
        } else if (status == CONVERGED) {
            if (enter_uniform(w)) {
                w->in_uniform = 1;
                w->mask = FULL;
                ((u32*)w->pending)[w->resume] = 0;
                ((u64*)w->bits)[w->resume / 64] &= ~(1ull << (w->resume & 63));
            } else {
                w->no_uniform = 1;
            }
        } else {
            const u32 from_uniform = w->in_uniform;
            if (status == BARRIER_THEN_REFERENCE) {
                leave_uniform(w);
                w->in_uniform = 0;
                w->no_uniform = 1;
            }
            if (status == BARRIER || status == BARRIER_THEN_REFERENCE) return stop_warp(w, from_uniform);
            w->state = status == YIELDED ? READY : DONE;
            return status == FAILED;
        }
    }
}

enum { CHANGING = 12 };    // special registers that differ from block to block; the last one has 64 bits (isa/special.py)

// A block's place in the grid; its cluster's place, and its own there, along x, y, z; its rank, and that in an address.
__device__ __noinline__ u64 special_value(const Warp* w, const Launch* L, u32 which) {
    const u32 axis = which % 3;
    if (which < 3) return w->block[axis];
    if (which < 6) return w->block[axis] / L->cluster[axis];
    if (which < 9) return w->block[axis] % L->cluster[axis];
    return which == 9 ? ((const Worker*)w->worker)->rank : w->window;
}

__device__ __noinline__ void start_warp(Worker* k, const Launch* L, u32 index, u32 traced) {
    Warp* w = (Warp*)(k->warps + index * L->warp_bytes);
    const u32 threads = min(LANES, L->threads - index * LANES);
    w->exists = threads == LANES ? FULL : (1u << threads) - 1;
    w->mask = w->alive = w->exists;
    w->state = READY;
    w->sync = 0;
    w->no_uniform = 0;
    w->in_uniform = 0;
    w->slice = 0;
    w->parked = w->synced = w->granted = w->role = 0;
    w->arrived = w->met = 0;
    w->window = (u64)k->rank << RANK_SHIFT;
    w->bar_true = w->skip = w->spun = w->blocked = w->stalled = 0;
    w->patience = L->together ? PATIENCE_TOGETHER : PATIENCE;
    w->traced = traced;
    w->by_runtime = (traced ? ALL_BY_RUNTIME : 0) | (L->racecheck ? SHARED_BY_RUNTIME : 0);
    w->steps = L->max_steps;
    const u32* pair = (const u32*)L->special;
#pragma unroll 1
    for (u32 i = 0; i < L->specials; ++i) {
        const u32 which = pair[2 * i];
        if (which >= CHANGING) continue;
        const u64 value = special_value(w, L, which);
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) write_slot(w, pair[2 * i + 1], which == CHANGING - 1 ? 8 : 4, l, value);
    }
    clear_stack(w);
    wait_at(w, L->entry_block, w->exists);
}

__device__ __noinline__ u32 is_traced(const Launch* L, u64 block, u32 warp) {
    const u64* pair = (const u64*)L->trace_pair;
#pragma unroll 1
    for (u32 i = 0; i < L->trace_pairs; ++i)
        if (pair[2 * i] == block && pair[2 * i + 1] == warp) return 1;
    return 0;
}

// A new block: nobody has touched its shared memory.
__device__ __noinline__ void forget_accesses(Worker* k, const Launch* L) {
    const u64 cells = (L->shared_bytes >> L->granule_shift) + 1;
    k->next_note = k->notes;
#pragma unroll 1
    for (u64 i = 0; i < cells; i += 2) ((u64*)k->epochs)[i / 2] = 0;
#pragma unroll 1
    for (u64 i = 0; i <= L->shared_bytes / LINE_BYTES; ++i) ((u32*)k->lines)[i] = 0;
    if (k->cells_used)
#pragma unroll 1
        for (u64 i = 0; i < cells * sizeof(Cell); i += 8) *(u64*)(k->shadow + i) = 0;
    if (k->cells_used && k->readers)
#pragma unroll 1
        for (u64 i = 0; i < cells * L->warps; ++i) ((Readers*)k->readers)[i].epoch = 0;
    k->cells_used = 0;
    if (k->far_used)
#pragma unroll 1
        for (u64 i = 0; i < cells * sizeof(FarCell); i += 4) *(u32*)(k->far + i) = 0;
    k->far_used = 0;
}

__device__ __noinline__ void start_block(Worker* k, const Launch* L, u64 number) {
    k->block_number = number;
    k->epoch = k->floor = k->named = 0;
    clear_async(k);
#pragma unroll 1
    for (u32 i = 0; i < BARRIERS; ++i) k->bar_arrived[i] = 0;
    u64 poison = L->poison;
#pragma unroll 1
    for (u64 i = 0; i < L->shared_bytes; i += 8, poison += L->poison_step) *(u64*)(k->shared + i) = poison;
    if (L->racecheck) forget_accesses(k, L);
    clear_products(k, L);
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        w->block[0] = number % L->grid[0];
        w->block[1] = number / L->grid[0] % L->grid[1];
        w->block[2] = number / L->grid[0] / L->grid[1];
#pragma unroll 1
        for (u32 b = 0; b < L->blocks_of_code; ++b) ((u32*)w->pending)[b] = 0;
#pragma unroll 1
        for (u32 b = 0; b < (L->blocks_of_code + 63) / 64; ++b) ((u64*)w->bits)[b] = 0;
        clear_queue(w);
        start_warp(k, L, i, L->trace_pairs ? is_traced(L, number, i) : 0);
    }
}

// A block with asynchronous work has ended: what its warps have executed, by what they have issued.
__device__ __noinline__ void add_roles(Worker* k, const Launch* L) {
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        const Warp* w = (const Warp*)(k->warps + i * L->warp_bytes);
        k->role_warps[w->role] += 1;
        k->role_steps[w->role] += L->max_steps - w->steps;
    }
}

enum Turn { ENDED, GO_ON, LOOKS, STUCK };

// Run every warp of a block until it waits, ends or has had its turn, and open the barrier at which all wait. Where the last block runs
// first, it is over with the first warp that has come to a barrier or to its end. LOOKS: none has, as all look at memory in a loop; STUCK:
// after a fault.
__device__ __noinline__ u32 take_turns(Worker* k, const Launch* L) {
    u32 ready = 0, waiting = 0, came = 0;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + ((const u32*)L->warp_order)[i] * L->warp_bytes);
        if (w->state != READY) continue;
        if (run_warp(w)) return STUCK;
        came = w->state != READY;
        if (*(volatile u32*)L->stop) {
            fault(w, STOPPED, 0, 0, 0);
            return STUCK;
        }
        if (L->last_first && came) break;
    }
    wake_warps(k, L);
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        const u32 state = ((Warp*)(k->warps + i * L->warp_bytes))->state;
        ready += state == READY;
        waiting += state == WAITING;
    }
    if (k->late && after_turns(k, L, ready, waiting)) return STUCK;
    if (!ready && waiting && release(k, L)) return STUCK;
    if (!ready && !waiting && left_alone(k, L)) return STUCK;
    if (!ready && !waiting && (k->late || k->products || k->queues)) add_roles(k, L);
    return ready && !came ? LOOKS : ready || waiting ? GO_ON : ENDED;
}

// Run the thread blocks [first, last). Returns 0, or 1 after a fault described in the worker.
extern "C" __device__ u32 run_blocks(Worker* k, u64 first, u64 last) {
    const Launch* L = (const Launch*)k->launch;
#pragma unroll 1
    for (u64 number = first; number < last; ++number) {
        start_block(k, L, number);
        u32 turn = GO_ON;
#pragma unroll 1
        while (turn == GO_ON || turn == LOOKS) turn = take_turns(k, L);
        if (turn == STUCK) return 1;
    }
    return 0;
}

// Run all blocks of a grid in turn, each with a worker of its own: from the first on, or always the last one that does not look at memory
// in a loop. Returns 0, or after a fault 1 + the number of the block it is in.
extern "C" __device__ u64 run_together(const u64* workers, u64 count) {
    const u32 last_first = ((const Launch*)((Worker*)workers[0])->launch)->last_first;
    u64 left = count;
#pragma unroll 1
    for (u64 i = 0; i < count; ++i) {
        Worker* k = (Worker*)workers[i];
        start_block(k, (const Launch*)k->launch, i);
        k->turn = GO_ON;
    }
#pragma unroll 1
    while (left)
#pragma unroll 1
        for (u64 turn = 0; turn < count; ++turn) {
            const u64 i = last_first ? count - 1 - turn : turn;
            Worker* k = (Worker*)workers[i];
            if (k->turn == ENDED) continue;
            k->turn = take_turns(k, (const Launch*)k->launch);
            if (k->turn == STUCK) return 1 + i;
            left -= k->turn == ENDED;
            if (last_first && k->turn != LOOKS) break;
        }
    return 0;
}
