// crosslane.cuh -- shuffles, votes, matches and reductions ("PTX ISA", Parallel Synchronization and Communication)

enum CrossKind { SHUFFLE, VOTE, MATCH, REDUCE, ACTIVE, ELECT };
enum ShuffleKind { UP, DOWN, BUTTERFLY, INDEXED };
enum VoteKind { ALL, ANY, UNIFORM_VOTE, BALLOT };
enum MatchKind { MATCH_ANY, MATCH_ALL };

__device__ __forceinline__ u32 bits_of(const Warp* w, u32 slot) { return *(const u32*)(w->registers + slot); }

__device__ __forceinline__ void put_bit(Warp* w, u32 slot, u32 lane, u32 bit) {
    u32* at = (u32*)(w->registers + slot);
    *at = (*at & ~(1u << lane)) | bit << lane;
}

// Lanes that had to wait for each other may have come to different instructions of one form: then `x` is null, and each has its own.
__device__ __forceinline__ const Cross* of_lane(const Warp* w, const Cross* x, u32 lane) {
    return x ? x : (const Cross*)w->sync_cross[lane];
}

// A shuffle has taken a value from a lane that has ended, does not exist or is not in the mask: undefined, says the manual. Much right code
// does so and throws the value away; so it is reported, and an error where the launch asks for that. `from`: the source of each lane.
__device__ __noinline__ u32 report_strays(Warp* w, const Cross* one, u32 members, const u8* from) {
    const Launch* L = (const Launch*)w->launch;
    const u32 first = w->index * LANES + 1;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 lane = lowest(left);
        const Cross* x = of_lane(w, one, lane);
        if (w->mask >> from[lane] & 1) continue;
        if (L->strict_shuffles) return fault(w, INACTIVE_LANE, x->number, lane, (u64)from[lane] << 32 | members);
        log_hazard((Worker*)w->worker, STRAY, x->number, x->number, first + lane, first + from[lane], members);
        if (L->stray_given) write_slot(w, x->result, 4, lane, L->stray + lane * L->stray_step);
    }
    return 0;
}

// The values are of 4 bytes, the only ones that PTX shuffles.
__device__ __noinline__ u32 shuffle(Warp* w, const Cross* one, u32 members) {
    u32 before[LANES], sources = 0;
    u8 source[LANES];
    const Cross* x = of_lane(w, one, lowest(w->mask));
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) before[l] = read_slot(w, x->a, 4, l);
    if (!one)
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) before[lowest(left)] = read_slot(w, of_lane(w, one, lowest(left))->a, 4, lowest(left));
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const int lane = lowest(left);
        if (!one) x = of_lane(w, one, lane);
        const int by = read_slot(w, x->b, 4, lane) & 31, c = read_slot(w, x->c, 4, lane);
        const int clamp = c & 31, segment = c >> 8 & 31;
        const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
        int from = x->flavour == UP ? lane - by : x->flavour == DOWN ? lane + by : x->flavour == BUTTERFLY ? lane ^ by
                 : least | (by & ~segment);
        const bool inside = x->flavour == UP ? from >= most : from <= most;
        if (!inside) from = lane;
        source[lane] = from;
        sources |= 1u << from;
        write_slot(w, x->result, 4, lane, before[from]);
        if (x->predicate != ~0u) put_bit(w, x->predicate, lane, inside);
    }
    return sources & ~w->mask ? report_strays(w, one, members, source) : 0;
}

__device__ __noinline__ void vote(Warp* w, const Cross* one) {
    const u32 flavour = of_lane(w, one, lowest(w->mask))->flavour;
    u32 yes = 0;
    if (one) yes = (one->b ? ~bits_of(w, one->a) : bits_of(w, one->a)) & w->mask;   // b: the predicate is negated
    else
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) {
            const Cross* x = of_lane(w, one, lowest(left));
            yes |= (x->b ? ~bits_of(w, x->a) : bits_of(w, x->a)) & left & -left;
        }
    const u32 answer = flavour == ALL ? yes == w->mask : flavour == ANY ? yes != 0 : yes == 0 || yes == w->mask;
    const Cross* x = one;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        if (!one) x = of_lane(w, one, lowest(left));
        if (flavour == BALLOT) write_slot(w, x->result, 4, lowest(left), yes);
        else put_bit(w, x->result, lowest(left), answer);
    }
}

__device__ __noinline__ void match(Warp* w, const Cross* one) {
    u64 value[LANES];
    u32 result[LANES];
    const u32 flavour = of_lane(w, one, lowest(w->mask))->flavour;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const Cross* x = of_lane(w, one, lowest(left));
        value[lowest(left)] = read_slot(w, x->a, x->bytes, lowest(left));
    }
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        u32 equal = 0;
#pragma unroll 1
        for (u32 o = w->mask; o; o &= o - 1)
            if (value[lowest(o)] == value[l]) equal |= o & -o;
        result[l] = flavour == MATCH_ANY ? equal : equal == w->mask ? w->mask : 0;
    }
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        const Cross* x = of_lane(w, one, l);
        write_slot(w, x->result, 4, l, result[l]);
        if (x->predicate != ~0u) put_bit(w, x->predicate, l, result[l] != 0);
    }
}

// flavour: a Change of atomics.cuh, times two, plus one for signed numbers
__device__ __noinline__ void reduce(Warp* w, const Cross* one) {
    const u32 first = lowest(w->mask), flavour = of_lane(w, one, first)->flavour;
    u64 total = read_slot(w, of_lane(w, one, first)->a, 4, first);
#pragma unroll 1
    for (u32 left = w->mask & (w->mask - 1); left; left &= left - 1)
        total = (u32)changed(flavour / 2, flavour & 1, 4, GENERIC, total, read_slot(w, of_lane(w, one, lowest(left))->a, 4, lowest(left)), 0);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) write_slot(w, of_lane(w, one, lowest(left))->result, 4, lowest(left), total);
}

// elect.sync: the manual leaves open which lane it is, but it is always the same one of a mask.
__device__ __noinline__ void elect(Warp* w, const Cross* one) {
    const u32 leader = lowest(w->mask);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        const Cross* x = of_lane(w, one, l);
        if (x->result != ~0u) write_slot(w, x->result, 4, l, leader);
        put_bit(w, x->predicate, l, l == leader);
    }
}

// Carry out an exchange among the active lanes, whose mask is `members`. Returns 1 after a fault.
__device__ __noinline__ u32 cross_group(Warp* w, const Cross* x, u32 members) {
    const u32 kind = of_lane(w, x, lowest(w->mask))->kind;
    if (kind == ELECT) {        // it puts no memory in order
        elect(w, x);
        return 0;
    }
    join_lanes((Worker*)w->worker, w, w->mask);
    ++w->sync;
    if (kind == SHUFFLE) return shuffle(w, x, members);
    if (kind == VOTE) vote(w, x);
    else if (kind == MATCH) match(w, x);
    else if (kind == REDUCE) reduce(w, x);
    else
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) write_slot(w, x->result, 4, lowest(left), w->mask);
    return 0;
}

__device__ u32 release_lanes(Warp* w);

// Not all lanes have the same mask, or some that it names are elsewhere: those wait whose partners have not come, see barriers.cuh.
// The rest, and the `others`, which do not take part, go on at once.
__device__ __noinline__ u32 cross_in_groups(Warp* w, const Cross* x, u32 others) {
    const u32 active = w->mask;
    u32 waiting = 0, rest = active;
#pragma unroll 1
    for (u32 left = active; left; left &= left - 1) {   // all before the first result is written: it may be the register of the masks
        const u32 l = lowest(left), members = x->known ? x->known : read_slot(w, x->mask, 4, l);
        if (!(members >> l & 1)) return fault(w, BARRIER_MISUSE, x->number, l, (u64)NOT_IN_MASK << 32 | members);
        w->sync_mask[l] = members;
    }
#pragma unroll 1
    while (rest) {
        const u32 members = w->sync_mask[lowest(rest)];
        u32 here = 0;
#pragma unroll 1
        for (u32 left = rest; left; left &= left - 1)
            if (w->sync_mask[lowest(left)] == members) here |= left & -left;
        rest &= ~here;
        w->mask = here;
        if (members & w->alive & ~here) waiting |= here;
        else if (cross_group(w, x, members)) return 1;
    }
#pragma unroll 1
    for (u32 left = active | others; left; left &= left - 1) w->sync_at[lowest(left)] = x->number;
#pragma unroll 1
    for (u32 left = waiting; left; left &= left - 1) w->sync_cross[lowest(left)] = (u64)x;
    w->granted |= active & ~waiting | others;
    w->synced |= waiting;
    if (waiting) release_lanes(w);
    return ((Worker*)w->worker)->fault == NO_FAULT ? IN_PARTS : WRONG;
}

// An exchange of the active lanes with those that their mask names. Lanes that have ended count as arrived. Returns a Crossed.
extern "C" __device__ u32 cross_lanes(Warp* w, const Cross* x, u32 others) {
    const u32 active = w->mask;
    if (!active) return TOGETHER;
    if (x->mask == ~0u) return cross_group(w, x, active);   // activemask
    u32 members = x->known, same = 1;
    if (!members) {
        members = read_slot(w, x->mask, 4, lowest(active));
#pragma unroll 1
        for (u32 left = active & (active - 1); left; left &= left - 1) same &= read_slot(w, x->mask, 4, lowest(left)) == members;
    }
    if (!same || active & ~members || members & w->alive & ~active) return cross_in_groups(w, x, others);
    return cross_group(w, x, members);
}
