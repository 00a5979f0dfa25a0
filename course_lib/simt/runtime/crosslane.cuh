// crosslane.cuh -- shuffles, votes, matches and reductions ("PTX ISA", Parallel Synchronization and Communication)

enum CrossKind { SHUFFLE, VOTE, MATCH, REDUCE, ACTIVE };
enum ShuffleKind { UP, DOWN, BUTTERFLY, INDEXED };
enum VoteKind { ALL, ANY, UNIFORM_VOTE, BALLOT };
enum MatchKind { MATCH_ANY, MATCH_ALL };

__device__ __forceinline__ u32 bits_of(const Warp* w, u32 slot) { return *(const u32*)(w->registers + slot); }

__device__ __forceinline__ void put_bit(Warp* w, u32 slot, u32 lane, u32 bit) {
    u32* at = (u32*)(w->registers + slot);
    *at = (*at & ~(1u << lane)) | bit << lane;
}

__device__ __noinline__ void shuffle(Warp* w, const Cross* x) {
    u64 before[LANES];
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) before[l] = read_slot(w, x->a, x->bytes, l);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const int lane = lowest(left);
        const int by = read_slot(w, x->b, 4, lane) & 31, c = read_slot(w, x->c, 4, lane);
        const int clamp = c & 31, segment = c >> 8 & 31;
        const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
        int from = x->flavour == UP ? lane - by : x->flavour == DOWN ? lane + by : x->flavour == BUTTERFLY ? lane ^ by
                 : least | (by & ~segment);
        const bool inside = x->flavour == UP ? from >= most : from <= most;
        if (!inside) from = lane;
        write_slot(w, x->result, x->bytes, lane, before[from]);
        if (x->predicate != ~0u) put_bit(w, x->predicate, lane, inside);
    }
}

__device__ __noinline__ void vote(Warp* w, const Cross* x) {
    const u32 yes = (x->b ? ~bits_of(w, x->a) : bits_of(w, x->a)) & w->mask;   // b: the predicate is negated
    const u32 answer = x->flavour == ALL ? yes == w->mask : x->flavour == ANY ? yes != 0 : yes == 0 || yes == w->mask;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        if (x->flavour == BALLOT) write_slot(w, x->result, 4, lowest(left), yes);
        else put_bit(w, x->result, lowest(left), answer);
    }
}

__device__ __noinline__ void match(Warp* w, const Cross* x) {
    u32 result[LANES];
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        u32 equal = 0;
#pragma unroll 1
        for (u32 o = w->mask; o; o &= o - 1)
            if (read_slot(w, x->a, x->bytes, lowest(o)) == read_slot(w, x->a, x->bytes, l)) equal |= o & -o;
        result[l] = x->flavour == MATCH_ANY ? equal : equal == w->mask ? w->mask : 0;
    }
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        write_slot(w, x->result, 4, l, result[l]);
        if (x->predicate != ~0u) put_bit(w, x->predicate, l, result[l] != 0);
    }
}

// flavour: a Change of atomics.cuh, times two, plus one for signed numbers
__device__ __noinline__ void reduce(Warp* w, const Cross* x) {
    u64 total = read_slot(w, x->a, 4, lowest(w->mask));
#pragma unroll 1
    for (u32 left = w->mask & (w->mask - 1); left; left &= left - 1)
        total = (u32)changed(x->flavour / 2, x->flavour & 1, 4, GENERIC, total, read_slot(w, x->a, 4, lowest(left)), 0);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) write_slot(w, x->result, 4, lowest(left), total);
}

__device__ __noinline__ void cross_group(Warp* w, const Cross* x) {
    if (x->kind == SHUFFLE) shuffle(w, x);
    else if (x->kind == VOTE) vote(w, x);
    else if (x->kind == MATCH) match(w, x);
    else if (x->kind == REDUCE) reduce(w, x);
    else
#pragma unroll 1
        for (u32 left = w->mask; left; left &= left - 1) write_slot(w, x->result, 4, lowest(left), w->mask);
}

// The active lanes, those with one member mask together: two halves of a warp may vote separately by one instruction.
extern "C" __device__ void cross_lanes(Warp* w, const Cross* x) {
    const u32 mask = w->mask;
    if (!mask) return;
    ++w->sync;
    if (x->mask == ~0u || x->kind == SHUFFLE) return cross_group(w, x);   // a shuffle moves values before any is written
    u32 members[LANES];   // the result may be the register of the masks
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) members[l] = read_slot(w, x->mask, 4, l);
#pragma unroll 1
    for (u32 rest = mask; rest; rest &= ~w->mask) {
        u32 here = 0;
#pragma unroll 1
        for (u32 left = rest; left; left &= left - 1)
            if (members[lowest(left)] == members[lowest(rest)]) here |= left & -left;
        w->mask = here;
        cross_group(w, x);
    }
    w->mask = mask;
}
