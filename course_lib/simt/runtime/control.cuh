// control.cuh -- which lanes run which block of code, and the change between uniform and reference code

__device__ __forceinline__ void wait_at(Warp* w, u32 block, u32 mask) {
    ((u32*)w->pending)[block] |= mask;
    ((u64*)w->bits)[block / 64] |= 1ull << (block & 63);
}

extern "C" __device__ void wait_lanes(Warp* w, u32 block, u32 mask) {
    if (mask) wait_at(w, block, mask);
}

// Send the lanes of `taken` to one block and the others to the other.
extern "C" __device__ void branch(Warp* w, u32 block, u32 yes, u32 no, u32 taken) {
    const u32 stay = w->mask & ~taken;
    taken &= w->mask;
    if (taken && stay) {
        Worker* k = (Worker*)w->worker;
        ((u64*)k->deopts)[2 * block + 1] += 1;
    }
    if (taken) wait_at(w, yes, taken);
    if (stay) wait_at(w, no, stay);
}

// Lanes that go round a loop and look at memory others may change get tired of it after so many visits that changed nothing.
// Then the other warps have their turn, and after them the lanes that wait behind that loop, as on hardware since Volta. Those that an
// mbarrier blocks give their turn away at once.
enum { PATIENCE = 4096, PATIENCE_TOGETHER = 4 };   // where all blocks are resident, others soon change what is waited for

// The lowest block from `first` on at which lanes wait, or ~0.
__device__ __forceinline__ u32 lowest_block(const Warp* w, u32 first, u32 words) {
    const u64* bits = (const u64*)w->bits;   // a bit for each block
#pragma unroll 1
    for (u32 i = first / 64; i < words; ++i) {
        const u64 here = i == first / 64 ? bits[i] & ~0ull << (first & 63) : bits[i];
        if (here) return i * 64 + __ffsll(here) - 1;
    }
    return ~0u;
}

__device__ u32 stuck_lanes(Warp* w);

// Make those lanes active that waited at one exchange, which has taken place; return its number.
__device__ __noinline__ u32 behind_exchange(Warp* w) {
    const u32 number = w->sync_at[lowest(w->granted)];
    w->mask = 0;
#pragma unroll 1
    for (u32 left = w->granted; left; left &= left - 1)
        if (w->sync_at[lowest(left)] == number) w->mask |= left & -left;
    w->granted &= ~w->mask;
    return number;
}

// Choose the lowest block at which lanes wait, count it, and make those lanes the active ones.
// Returns its number, or -1: no lane left, -2: step budget used up, -3: all lanes together, go on in uniform code,
// -4: the next warp's turn, -5: all that live wait at a barrier, BEHIND_EXCHANGE + n: go on behind exchange n.
extern "C" __device__ int next_block(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    Worker* k = (Worker*)w->worker;
    const u32 words = (L->blocks_of_code + 63) / 64;
    u64* bits = (u64*)w->bits;
    if (L->interleaved && !(w->slice ^= 1)) return -4;
    if (w->granted) return BEHIND_EXCHANGE + behind_exchange(w);
    u32 b = lowest_block(w, w->skip, words);
    if (b == ~0u && w->skip) {
        w->skip = 0;
        b = lowest_block(w, 0, words);
    }
    if (b != ~0u && ((const u8*)L->polls)[b]) {
        const u32 patience = L->together ? PATIENCE_TOGETHER : PATIENCE;
        if (w->spun != ((const u32*)w->pending)[b]) w->patience = patience;
        w->spun = ((const u32*)w->pending)[b];
        if (w->blocked || !w->patience--) {
            w->stalled = w->blocked;
            w->blocked = 0;
            w->patience = patience;
            w->skip = lowest_block(w, b + 1, words) == ~0u ? 0 : b + 1;
            return -4;
        }
    }
    if (b != ~0u) {
        u32* pending = &((u32*)w->pending)[b];
        const u32 mask = *pending;
        if (mask == FULL && L->uniform && !w->no_uniform && ((const u32*)L->uniform_blocks)[b]) {
            w->resume = b;
            return -3;
        }
        w->no_uniform = 0;
        *pending = 0;
        bits[b / 64] &= ~(1ull << (b & 63));
        w->mask = mask;
        w->steps -= ((const u32*)L->block_size)[b];
        if (w->steps < 0) {
            k->fault_code_block = b;
            fault(w, STEP_BUDGET, 0, lowest(mask), 0);
            return -2;
        }
        ((u64*)k->executed)[b] += 1;
        ((u64*)k->threads)[b] += __popc(mask);
        return b;
    }
    if (w->synced) {
        if (release_lanes(w)) return next_block(w);
        if (k->fault == NO_FAULT) stuck_lanes(w);
        return -2;
    }
    if (!w->parked) return -1;
#pragma unroll 1
    for (u32 left = w->parked; left; left &= left - 1) wait_at(w, w->park_next[lowest(left)], left & -left);
    w->bar_lanes = w->parked;
    w->parked = 0;
    return -5;
}

// A guarded instruction (not a branch) of number `n` runs under a smaller mask; count it on its own.
extern "C" __device__ void count_guarded(Warp* w, u32 n) {
    u64* c = (u64*)((Worker*)w->worker)->dynamic + COUNTS * n;
    c[6] += w->mask != 0;
    c[7] += __popc(w->mask);
}

// codegen/handover.py has these: a register of all lanes is, or is it, `base` plus what `lanes` points to (0: nothing)?
extern "C" __device__ void spread_4(u64 slot, u64 base, u64 lanes);
extern "C" __device__ void spread_8(u64 slot, u64 base, u64 lanes);
extern "C" __device__ u32 holds_4(u64 slot, u64 base, u64 lanes);
extern "C" __device__ u32 holds_8(u64 slot, u64 base, u64 lanes);

// Write the registers of uniform code out as full lane vectors, for the blocks at which lanes now wait.
__device__ __noinline__ void leave_uniform(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    const u32* start = (const u32*)L->live_start;
#pragma unroll 1
    for (u32 b = 0; b < L->blocks_of_code; ++b) {
        if (!((const u32*)w->pending)[b]) continue;
#pragma unroll 1
        for (u32 i = start[b]; i < start[b + 1]; ++i) {
            const Live* r = &((const Live*)L->live)[i];
            const u64 base = *(const u64*)(w->uniform + r->uniform);
            if (r->kind == UNIFORM_PREDICATE) {
                *(u32*)(w->registers + r->slot) = base & 1 ? FULL : 0;
                continue;
            }
            const u64 slot = w->registers + r->slot, part = r->kind == SPLIT ? w->uniform + r->lanes : 0;
            if (r->bytes >= 4) {
                r->bytes == 4 ? spread_4(slot, base, part) : spread_8(slot, base, part);
                continue;
            }
#pragma unroll 1
            for (u32 l = 0; l < LANES; ++l) {
                u64 value = base;
                if (r->kind == SPLIT) value += load_bytes(w->uniform + r->lanes + l * r->bytes, r->bytes, 0);
                write_slot(w, r->slot, r->bytes, l, value);
            }
        }
    }
}

// The reverse, for the block w->resume. Returns 0 when a register that uniform code holds once differs between lanes.
__device__ __noinline__ u32 enter_uniform(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    const u32* start = (const u32*)L->live_start;
#pragma unroll 1
    for (u32 i = start[w->resume]; i < start[w->resume + 1]; ++i) {
        const Live* r = &((const Live*)L->live)[i];
        u64* once = (u64*)(w->uniform + r->uniform);
        if (r->kind == UNIFORM_PREDICATE) {
            const u32 lanes = *(const u32*)(w->registers + r->slot);
            if (lanes != 0 && lanes != FULL) return 0;
            *once = lanes & 1;
            continue;
        }
        const u64 mask = r->bytes == 8 ? ~0ull : (1ull << 8 * r->bytes) - 1;
        const u64 part = w->uniform + r->lanes;
        u64 base = read_slot(w, r->slot, r->bytes, 0);
        if (r->kind == SPLIT && !r->pattern) base -= load_bytes(part, r->bytes, 0);
        if (r->bytes >= 4) {
            const u64 slot = w->registers + r->slot, lanes = r->kind == SPLIT ? part : 0;
            if (r->bytes == 4 ? holds_4(slot, base, lanes) : holds_8(slot, base, lanes)) {
                *once = base & mask;
                continue;
            }
        }
        u32 fresh = 0;
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) {
            const u64 value = (read_slot(w, r->slot, r->bytes, l) - base) & mask;
            const u64 known = r->kind == SPLIT ? load_bytes(part + l * r->bytes, r->bytes, 0) : 0;
            if (value == known) continue;
            if (r->kind != SPLIT || !r->pattern) return 0;
            store_bytes(part + l * r->bytes, r->bytes, value);
            fresh = 1;
        }
        if (fresh) analyze((Pattern*)(w->uniform + r->pattern), (const void*)part, r->bytes);
        *once = base & mask;
    }
    return 1;
}
