// barriers.cuh -- where threads wait for each other: the 16 barriers of a block, and __syncwarp
//
// A warp arrives at a block's barrier when all its living lanes have come, and counts as 32 threads. A barrier with a number
// of threads opens when that many have come; one without, when all living warps of the block wait at it.

// Instead of a barrier's number: a warp waits for others of its warpgroup; at the cluster's barrier (clusters.cuh); or lanes that come there
// with .aligned wait for their warp.
enum { BARRIERS = 16, AWAITING = 16, AT_CLUSTER = 17, TO_CLUSTER = 18 };

__device__ u32 come_to_cluster(Warp* w, const Bar* b, u32 lanes);
__device__ u32 whole_at_cluster(Warp* w);
__device__ u32 wait_for_cluster(Warp* w, const Bar* b, u32* lanes, u32 next);
__device__ void leave_cluster(Warp* w);
__device__ u32 open_alone(Worker* k, const Launch* L);
__device__ __forceinline__ u32 misuse(Warp* w, u32 what, const Bar* b, u32 lane, u32 value) {
    return fault(w, BARRIER_MISUSE, b->number, lane, (u64)what << 32 | value);
}

// The number and the count that the lanes name, the same in all of them. Returns 1 after a fault.
__device__ __noinline__ u32 operands_of(Warp* w, const Bar* b, u32 lanes, u32* id, u32* count) {
    const u32 first = lowest(lanes);
    *id = b->id_slot == ~0u ? b->id : read_slot(w, b->id_slot, 4, first);
    *count = b->count_slot == ~0u ? b->count : read_slot(w, b->count_slot, 4, first);
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (b->id_slot != ~0u && read_slot(w, b->id_slot, 4, l) != *id ||
            b->count_slot != ~0u && read_slot(w, b->count_slot, 4, l) != *count) return misuse(w, MIXED_LANES, b, l, *id);
    }
    if (*id >= BARRIERS) return misuse(w, NO_SUCH_BARRIER, b, first, *id);
    if (b->counted && (*count % LANES || *count == 0 || *count > 1024)) return misuse(w, NO_SUCH_COUNT, b, first, *count);
    return 0;
}

// Lanes reach a barrier and stay there until no lane of the warp is left that could still come.
extern "C" __device__ u32 arrive(Warp* w, const Bar* b, u32 next, u32 lanes) {
    u32 id, count;
    lanes &= w->mask;
    if (!lanes) return 0;
    if (b->cluster) {
        if (!b->arrive && wait_for_cluster(w, b, &lanes, next)) return 1;
        if (!lanes) return 0;
        id = b->arrive ? TO_CLUSTER : AT_CLUSTER;
        count = 0;
    } else if (operands_of(w, b, lanes, &id, &count)) return 1;
    const Bar* before = (const Bar*)w->bar;
    if (w->parked && (w->bar_id != id || w->bar_count != count || before->number != b->number &&
                      (b->plain || before->plain || b->reduce || before->reduce || b->cluster == 2)))
        return fault(w, DIVERGENT_BARRIER, b->number, lowest(lanes), w->barrier);
    if (w->traced && id != TO_CLUSTER) record(w, b->number, 1, 0);
    if (!w->parked) w->bar_true = b->cluster ? w->alive : 0;
    w->barrier = b->number;
    w->bar = (u64)b;
    w->bar_id = id;
    w->bar_count = count;
    w->parked |= lanes;
    if (b->reduce) w->bar_true |= (b->negated ? ~bits_of(w, b->predicate) : bits_of(w, b->predicate)) & lanes;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) w->park_next[lowest(left)] = next;
    return 0;
}

// A warp's knowledge goes to a barrier when it arrives, and from there to all that wait when it opens. Every arrival begins
// a new epoch, so that what a warp does behind it is told from what it did before.
__device__ __noinline__ void tell(Worker* k, const Warp* w, u32 id) {
    if (!k->named) {
        k->named = 1;
#pragma unroll 1
        for (u32 i = 0; i < 1024; ++i) k->known[i] = 0;
#pragma unroll 1
        for (u32 i = 0; i < 512; ++i) k->bar_known[i] = 0;
    }
#pragma unroll 1
    for (u32 o = 0; o < 32; ++o)
        k->bar_known[id * 32 + o] = max(k->bar_known[id * 32 + o], o == w->index ? k->epoch + 1 : k->known[w->index * 32 + o]);
    if (k->clocks)
#pragma unroll 1
        for (u32 left = w->alive; left; left &= left - 1) give_clock(k, bar_row(k, id), w->index * LANES + lowest(left));
    ++k->epoch;
}

__device__ __noinline__ void learn(Worker* k, const Warp* w, u32 id) {
#pragma unroll 1
    for (u32 o = 0; o < 32; ++o) k->known[w->index * 32 + o] = max(k->known[w->index * 32 + o], k->bar_known[id * 32 + o]);
    if (k->clocks)
#pragma unroll 1
        for (u32 left = w->alive; left; left &= left - 1) take_clock(k, bar_row(k, id), w->index * LANES + lowest(left));
}

// Open a barrier: the warps that wait at it go on, with the result of a reduction over their lanes.
__device__ __noinline__ void open(Worker* k, const Launch* L, u32 id) {
    u32 count = 0, all = 1, living = 0, waiting = 0;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        living += w->state != DONE;
        if (w->state != WAITING || w->bar_id != id) continue;
        ++waiting;
        count += __popc(w->bar_true);
        all &= w->bar_true == w->bar_lanes;
    }
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        if (w->state != WAITING || w->bar_id != id) continue;
        w->state = READY;
        if (w->bar_count) learn(k, w, id);
        const Bar* b = (const Bar*)w->bar;
        if (!b || !b->reduce || b->result == ~0u) continue;
#pragma unroll 1
        for (u32 left = w->bar_lanes; left; left &= left - 1) {
            if (b->reduce == 1) write_slot(w, b->result, 4, lowest(left), count);
            else put_bit(w, b->result, lowest(left), b->reduce == 2 ? all : count != 0);
        }
    }
    const u32 counted = k->bar_arrived[id] != 0;
    if (counted)
#pragma unroll 1
        for (u32 o = 0; o < 32; ++o) k->bar_known[id * 32 + o] = 0;
    if (counted && k->clocks) {
        fill_row(k, bar_row(k, id), 0);
        fill_row(k, bar_row(k, id) + 1, 0);
    }
    k->bar_arrived[id] = 0;
    if (waiting == (counted ? L->warps : living)) {
        k->floor = ++k->epoch;
        join_block(k);
        k->next_note = k->notes;   // what was read or written before cannot be part of a hazard any more
    }
}

// Count a warp's arrival at a barrier with a number of threads; open it when they are all there.
__device__ __noinline__ u32 count_arrival(Warp* w, const Launch* L, u32 id, u32 count, u32 number) {
    Worker* k = (Worker*)w->worker;
    if (k->bar_arrived[id] && k->bar_expected[id] != count)
        return fault(w, BARRIER_MISUSE, number, lowest(w->exists), (u64)MIXED_COUNTS << 32 | k->bar_expected[id]);
    tell(k, w, id);
    k->bar_expected[id] = count;
    k->bar_arrived[id] += LANES;
    if (k->bar_arrived[id] >= count) open(k, L, id);
    return 0;
}

// bar.arrive: count the warp and go on.
extern "C" __device__ u32 arrive_only(Warp* w, const Bar* b) {
    u32 id, count;
    if (!w->mask) return 0;
    if (b->cluster) return come_to_cluster(w, b, w->mask);
    if (operands_of(w, b, w->mask, &id, &count)) return 1;
    if (w->mask != w->alive) return misuse(w, PART_OF_WARP, b, lowest(w->mask), id);
    if (w->traced) record(w, b->number, 1, 0);
    return count_arrival(w, (const Launch*)w->launch, id, count, b->number);
}

// A warp has stopped at a barrier, in uniform code or not.
__device__ __noinline__ u32 stop_warp(Warp* w, u32 from_uniform) {
    w->state = WAITING;
    w->stalled = 0;
    if (from_uniform) {
        w->bar = 0;
        w->bar_id = w->bar_count = 0;
        return 0;
    }
    if (w->bar_id == AT_CLUSTER || w->bar_id == TO_CLUSTER) return whole_at_cluster(w);
    return w->bar_count ? count_arrival(w, (const Launch*)w->launch, w->bar_id, w->bar_count, w->barrier) : 0;
}

// Two warps wait at one barrier, which different instructions name. Hardware counts arrivals and does not ask where they come from, but
// for a __syncthreads() the language promises nothing then: it is reported, and an error where the launch asks for that.
__device__ __noinline__ u32 meet(Worker* k, const Launch* L, const Warp* first, Warp* w) {
    const Bar *a = (const Bar*)first->bar, *b = (const Bar*)w->bar;
    if (a && !a->plain && b && !b->plain || w->barrier == first->barrier) return 0;
    if (L->strict_barriers || (a ? a->reduce : 0) != (b ? b->reduce : 0))
        return fault(w, BARRIER_MISMATCH, w->barrier, lowest(w->exists), first->barrier);
    log_hazard(k, MEETING, first->barrier, w->barrier, first->index * LANES + lowest(first->exists) + 1,
               w->index * LANES + lowest(w->exists) + 1, w->bar_id);
    return 0;
}

__device__ u32 stuck_warpgroup(Worker* k, Warp* w);

__device__ __noinline__ u32 awaits_cluster(const Worker* k, const Launch* L) {
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        const Warp* w = (const Warp*)(k->warps + i * L->warp_bytes);
        if (w->state == WAITING && w->bar_id == AT_CLUSTER) return 1;
    }
    return 0;
}

// No warp can run: open the barrier at which all that live wait, or say which ones keep each other waiting.
__device__ __noinline__ u32 release(Worker* k, const Launch* L) {
    Warp* first = 0;
    if (awaits_cluster(k, L)) return k->cluster ? 0 : open_alone(k, L);      // run_clusters looks at all blocks
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        if (w->state != WAITING) continue;
        if (w->bar_id == AWAITING) return stuck_warpgroup(k, w);
        if (!first) first = w;
        if (w->bar_count || w->bar_id != first->bar_id)
            return fault(w, BARRIER_MISMATCH, w->barrier, lowest(w->exists), first->barrier);
        if (meet(k, L, first, w)) return 1;
    }
    open(k, L, first->bar_id);
    return 0;
}

// -- lanes of a warp that wait for each other ----------------------------------------------------------------------------------
// "PTX ISA": an instruction with a mask waits until all threads of the mask that have not ended have executed one "with the same
// qualifiers and the same membermask value"; it need not be the same instruction.
__device__ __forceinline__ u32 form_at(const Warp* w, u32 lane) {
    const Cross* x = (const Cross*)w->sync_cross[lane];
    return x ? 1 + x->kind + 8 * x->flavour + 1024 * x->bytes : 0;
}

// The lanes of `among` that wait with the same mask as `lane` at instructions of the same form.
__device__ __noinline__ u32 partners(const Warp* w, u32 among, u32 lane) {
    u32 there = 0;
#pragma unroll 1
    for (u32 o = among; o; o &= o - 1)
        if (w->sync_mask[lowest(o)] == w->sync_mask[lane] && form_at(w, lowest(o)) == form_at(w, lane)) there |= o & -o;
    return there;
}

// Let the lanes go on whose partners have all come, an exchange after it has taken place. Returns them, and none after a fault.
__device__ __noinline__ u32 release_lanes(Warp* w) {
    const u32 active = w->mask;
    u32 freed = 0;
#pragma unroll 1
    for (u32 left = w->synced; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (!(w->sync_mask[l] & w->alive & ~partners(w, w->synced, l))) freed |= left & -left;
    }
    u32 exchanging = 0;
#pragma unroll 1
    for (u32 left = freed; left; left &= left - 1) {
        if (w->sync_cross[lowest(left)]) exchanging |= left & -left;
        else wait_at(w, w->sync_next[lowest(left)], left & -left);
    }
#pragma unroll 1
    for (u32 left = freed & ~exchanging, there; left; left &= ~there) join_lanes((Worker*)w->worker, w, there = partners(w, left, lowest(left)));
    w->synced &= ~freed;
    w->granted |= exchanging;
    w->sync += freed != exchanging;
#pragma unroll 1
    while (exchanging) {
        w->mask = partners(w, exchanging, lowest(exchanging));
        exchanging &= ~w->mask;
        if (cross_group(w, 0, w->sync_mask[lowest(w->mask)])) return 0;
    }
    w->mask = active;
    return freed;
}

// bar.warp.sync: the active lanes wait for those that the mask in `slot` names.
extern "C" __device__ u32 sync_warp(Warp* w, u32 number, u32 slot, u32 next, u32 lanes) {
    lanes &= w->mask;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 l = lowest(left), mask = read_slot(w, slot, 4, l);
        if (!(mask >> l & 1)) return fault(w, BARRIER_MISUSE, number, l, (u64)NOT_IN_MASK << 32 | mask);
        w->sync_mask[l] = mask;
        w->sync_next[l] = next;
        w->sync_at[l] = number;
        w->sync_cross[l] = 0;
    }
    w->synced |= lanes;
    release_lanes(w);
    return ((Worker*)w->worker)->fault != NO_FAULT;
}

// All lanes that live wait for others of their warp which wait elsewhere.
__device__ __noinline__ u32 stuck_lanes(Warp* w) {
    const u32 l = lowest(w->synced), missing = w->sync_mask[l] & w->alive;
    u32 other = w->parked ? w->barrier : w->sync_at[l];
#pragma unroll 1
    for (u32 left = missing & w->synced & ~partners(w, w->synced, l); left; left &= left - 1) other = w->sync_at[lowest(left)];
    return fault(w, STUCK_LANES, w->sync_at[l], l, (u64)other << 32 | w->sync_mask[l]);
}
