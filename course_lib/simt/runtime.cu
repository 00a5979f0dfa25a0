// runtime.cu -- what surrounds a simulated kernel: the block scheduler, memory accesses, counting, hazards
//
// Written in CUDA C, compiled by NVRTC like every kernel of the course, and translated to plain host code by scalar.py.
// It runs on the host's memory. The structures are mirrored, field by field, in layout.py.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum { LANES = 32, FULL = 0xffffffffu, MAX_HAZARDS = 512 };
enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONSTANT };
enum State { READY, WAITING, DONE };
enum Status { EXITED, BARRIER, DIVERGED, CONVERGED, FAILED, YIELDED };
enum Fault { NO_FAULT, OUT_OF_BOUNDS, MISALIGNED, DIVERGENT_BARRIER, STEP_BUDGET, READ_ONLY, BARRIER_MISMATCH, STOPPED };
enum Kind { LOAD, STORE };
enum HazardKind { RAW, WAR, WAW, UNINITIALISED };
enum LiveKind { UNIFORM, SPLIT, UNIFORM_PREDICATE };

struct Array { u64 lo, hi, host; u32 writable, pad; };   // device addresses [lo, hi), host address of lo

struct Access {                // one static memory instruction
    u32 kind, space, width, count;        // bytes per element, elements per lane
    u32 sign, line, number, address_bytes;
    i64 offset;
    u32 address, item_bytes, item[4];     // byte offsets in the register file; item_bytes: size of a data register
    u32 has_address, tag;
};

struct Live { u32 kind, bytes, fast, slot, lanes, pattern; };   // pattern: where its Pattern lies, 0 for constant lanes

struct Pattern {               // what fast code keeps about the lane part of an address (32 differences to a uniform base)
    i64 lo, hi, bits, segment[4];         // least, greatest, all bits together; lanes 0, 8, 16, 24
    u32 stride, spare;                    // step between neighbours inside each 8 lanes, or ~0 when there is none
    u8 sectors[4][32];                    // by log2(bytes / 4) and address mod 32; 0: not counted yet
    u32 waves[2][4], phases[2][4];        // by store, log2(bytes / 4); 0: not counted yet
};

struct Hazard { u32 kind, first, second, block[3], first_thread, second_thread; u64 address, count; };

struct Cell {                  // shadow of one granule of shared memory
    u32 write_epoch, write_sync, writer, write_access;
    u32 read_epoch, read_sync, reader, read_access;
    u32 reader2, read_access2, read_sync2, written;
};

struct Record { u32 step, block, warp, access, mask, event; u64 address[LANES]; };

struct Launch {
    u32 grid[3], block[3];
    u32 threads, warps, blocks_of_code, arrays;
    u64 array, masked, fast, block_size, fastable, live_start, live, warp_order;
    u64 shared_bytes, local_bytes, warp_bytes, pending_offset, bits_offset, register_offset, fast_offset;
    u64 special, specials;     // pairs (which, slot)
    i64 max_steps;
    u32 racecheck, granule_shift, trace_pairs, interleaved;
    u64 trace_pair;            // pairs (linear block, warp)
    u64 params, constants, constant_bytes, stop;
};

struct Worker {
    u64 launch, warps, shared, local, shadow, executed, threads, dynamic, fast_executed, deopts;
    u64 records, record_limit, record_count, hazards, hazard_count;
    u32 fault, fault_access, fault_lane, fault_warp, fault_block[3], fault_code_block;
    u64 fault_address, block_number;
    u32 epoch, tracing;
};

struct Warp {
    u32 mask, alive, exists, index, state, resume, sync, traced;
    u64 launch, worker, functions, pending, bits, registers, fast, local;
    i64 steps;
    u32 block[3], no_fast;
    u32 in_fast, barrier, slice, spare;
    u64 params, constants, shared, shared_bytes;
};

extern "C" __device__ u32 sizes(u32 which) {
    return which == 0 ? sizeof(Array) : which == 1 ? sizeof(Access) : which == 2 ? sizeof(Live) : which == 3 ? sizeof(Hazard)
         : which == 4 ? sizeof(Cell) : which == 5 ? sizeof(Record) : which == 6 ? sizeof(Launch) : which == 7 ? sizeof(Worker)
         : which == 8 ? sizeof(Warp) : sizeof(Pattern);
}

__device__ __forceinline__ u32 lowest(u32 mask) { return __ffs(mask) - 1; }

// ---- counting -------------------------------------------------------------------------------------------------------

// Distinct aligned 32-byte sectors over the active lanes.
extern "C" __device__ u32 count_sectors(const u64* address, u32 mask) {
    u64 seen[LANES];
    u32 n = 0;
    u64 top = 0;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u64 sector = (address[lowest(left)] >> 5) + 1;
        if (sector > top) {
            top = sector;
        } else {
            u32 i = 0;
#pragma unroll 1
            while (i < n && seen[i] != sector) ++i;
            if (i < n) continue;
        }
        seen[n++] = sector;
    }
    return n;
}

// The largest number of distinct words in one bank, over the words [address, address + bytes) of the active lanes.
__device__ __noinline__ u32 deepest_bank(const u64* address, u32 mask, u32 bytes) {
    u8 head[32], next[LANES * 4 + 1], depth[32];
    u64 word[LANES * 4 + 1];
    u32 n = 0, most = 0;
#pragma unroll 1
    for (u32 b = 0; b < 32; ++b) head[b] = depth[b] = 0;
    const u32 words = bytes < 4 ? 1 : bytes / 4;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u64 base = address[lowest(left)] >> 2;
#pragma unroll 1
        for (u32 i = 0; i < words; ++i) {
            const u32 bank = (base + i) & 31;
            u32 at = head[bank];
#pragma unroll 1
            while (at && word[at] != base + i) at = next[at];
            if (at) continue;
            ++n;
            word[n] = base + i;
            next[n] = head[bank];
            head[bank] = n;
            const u32 d = ++depth[bank];
            most = d > most ? d : most;
        }
    }
    return most;
}

// Do all pairs of active lanes (l, l ^ distance) have equal addresses?
__device__ __noinline__ bool paired(const u64* address, u32 mask, u32 distance) {
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u32 l = lowest(left), other = l ^ distance;
        if ((mask >> other & 1) && address[l] != address[other]) return false;
    }
    return true;
}

// Wavefronts of one shared access of `bytes` per lane; the phases that have an active lane go to *phases.
extern "C" __device__ u32 count_wavefronts(const u64* address, u32 mask, u32 bytes, u32 load, u32* phases) {
    u32 per_phase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (load && bytes > 4 && (paired(address, mask, 1) || paired(address, mask, 2))) per_phase *= 2;
    u32 total = 0, used = 0;
#pragma unroll 1
    for (u32 first = 0; first < LANES; first += per_phase) {
        const u32 part = mask & (per_phase == 32 ? FULL : ((1u << per_phase) - 1) << first);
        if (!part) continue;
        ++used;
        total += deepest_bank(address, part, bytes);
    }
    *phases = used;
    return total;
}

// ---- patterns -------------------------------------------------------------------------------------------------------

__device__ __forceinline__ i64 part(const void* lanes, u32 bytes, u32 l) {
    return bytes == 8 ? ((const i64*)lanes)[l] : ((const int*)lanes)[l];
}

// Describe a new lane part; what had been counted for the old one is forgotten.
extern "C" __device__ void analyze(Pattern* p, const void* lanes, u32 bytes) {
    i64 lo = part(lanes, bytes, 0), hi = lo, bits = lo;
    const i64 step = part(lanes, bytes, 1) - lo;
    u32 regular = 1;
#pragma unroll 1
    for (u32 l = 1; l < LANES; ++l) {
        const i64 v = part(lanes, bytes, l);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
        bits |= v;
        if ((l & 7) && v - part(lanes, bytes, l - 1) != step) regular = 0;
    }
    p->lo = lo;
    p->hi = hi;
    p->bits = bits;
    for (u32 i = 0; i < 4; ++i) p->segment[i] = part(lanes, bytes, 8 * i);
    p->stride = regular && step >= 0 && step <= 16 ? step : ~0u;
    u64* counted = (u64*)p->sectors;
#pragma unroll 1
    for (u32 i = 0; i < (sizeof(p->sectors) + sizeof(p->waves)) / 8; ++i) counted[i] = 0;
}

__device__ __noinline__ void full(u64* address, u64 base, const void* lanes, u32 bytes) {
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) address[l] = base + part(lanes, bytes, l);
}

// Sectors of an access of 4 << size bytes per lane at `base` plus the lane part; kept for the next time.
extern "C" __device__ u32 pattern_sectors(Pattern* p, const void* lanes, u32 bytes, u64 base, u32 size) {
    u64 address[LANES];
    full(address, 1ull << 48 | (base & 31), lanes, bytes);
    return p->sectors[size][base & 31] = count_sectors(address, FULL);
}

// Wavefronts of a shared access of 4 << size bytes per lane.
extern "C" __device__ u32 pattern_waves(Pattern* p, const void* lanes, u32 bytes, u32 store, u32 size) {
    u64 address[LANES];
    full(address, 1ull << 48, lanes, bytes);
    return p->waves[store][size] = count_wavefronts(address, FULL, 4 << size, !store, &p->phases[store][size]);
}

// ---- hazards --------------------------------------------------------------------------------------------------------

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

__device__ __noinline__ void check_cell(Worker* k, const Warp* w, Cell* c, u32 store, u32 me, u32 access, u64 address, u32 same) {
    if (store) {
        if (!same && unordered(k, w, me, c->writer, c->write_epoch, c->write_sync))
            log_hazard(k, WAW, c->write_access, access, c->writer, me, address);
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
        log_hazard(k, RAW, c->write_access, access, c->writer, me, address);
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

// ---- memory ---------------------------------------------------------------------------------------------------------

__device__ __noinline__ u32 fault(Warp* w, u32 what, u32 access, u32 lane, u64 address) {
    Worker* k = (Worker*)w->worker;
    k->fault = what;
    k->fault_access = access;
    k->fault_lane = lane;
    k->fault_warp = w->index;
    k->fault_block[0] = w->block[0];
    k->fault_block[1] = w->block[1];
    k->fault_block[2] = w->block[2];
    k->fault_address = address;
    return 1;
}

// The array that holds [address, address + bytes), or null.
__device__ __noinline__ const Array* find(const Launch* L, u64 address, u64 bytes) {
    const Array* a = (const Array*)L->array;
#pragma unroll 1
    for (u32 i = 0; i < L->arrays; ++i)
        if (address >= a[i].lo && address + bytes <= a[i].hi && address + bytes >= address) return &a[i];
    return 0;
}

// For the fast path: fill {lo, hi, host - lo} with the array that holds the whole range, or say no.
extern "C" __device__ u32 lookup(Warp* w, u64 lo, u64 hi, u64* window, u32 store) {
    const Array* a = find((const Launch*)w->launch, lo, hi - lo);
    if (!a || (store && !a->writable)) return 0;
    window[0] = a->lo;
    window[1] = a->hi;
    window[2] = a->host - a->lo;
    return 1;
}

__device__ __forceinline__ u64 read_slot(const Warp* w, u32 slot, u32 bytes, u32 lane) {
    const u64 at = w->registers + slot + lane * bytes;
    return bytes == 8 ? *(const u64*)at : bytes == 4 ? *(const u32*)at : bytes == 2 ? *(const u16*)at : *(const u8*)at;
}

__device__ __forceinline__ void write_slot(Warp* w, u32 slot, u32 bytes, u32 lane, u64 value) {
    const u64 at = w->registers + slot + lane * bytes;
    if (bytes == 4) *(u32*)at = value;
    else if (bytes == 8) *(u64*)at = value;
    else if (bytes == 2) *(u16*)at = value;
    else *(u8*)at = value;
}

__device__ __forceinline__ u64 load_bytes(u64 at, u32 width, u32 sign) {
    if (width == 4) return sign ? (u64)(i64) * (const int*)at : *(const u32*)at;
    if (width == 8) return *(const u64*)at;
    if (width == 2) return sign ? (u64)(i64) * (const short*)at : *(const u16*)at;
    return sign ? (u64)(i64) * (const signed char*)at : *(const u8*)at;
}

__device__ __forceinline__ void store_bytes(u64 at, u32 width, u64 value) {
    if (width == 4) *(u32*)at = value;
    else if (width == 8) *(u64*)at = value;
    else if (width == 2) *(u16*)at = value;
    else *(u8*)at = value;
}

// The windows of generic addresses; global arrays lie above them.
#define SHARED_WINDOW 0x1000000ull
#define LOCAL_WINDOW 0x2000000ull
#define CONSTANT_WINDOW 0x3000000ull
#define WINDOW_END 0x4000000ull

__device__ __forceinline__ u32 space_of(u64 address) {
    return address >= WINDOW_END || address < SHARED_WINDOW ? GLOBAL : address < LOCAL_WINDOW ? SHARED
         : address < CONSTANT_WINDOW ? LOCAL : CONSTANT;
}

__device__ __forceinline__ u64 window_of(u32 space) {
    return space == SHARED ? SHARED_WINDOW : space == LOCAL ? LOCAL_WINDOW : space == CONSTANT ? CONSTANT_WINDOW : 0;
}

__device__ __noinline__ void record(Warp* w, u32 access, u32 event, const u64* address) {
    Worker* k = (Worker*)w->worker;
    if (k->record_count >= k->record_limit) {
        ++k->record_count;
        return;
    }
    Record* r = &((Record*)k->records)[k->record_count++];
    r->step = ((const Launch*)w->launch)->max_steps - w->steps;
    r->block = k->block_number;
    r->warp = w->index;
    r->access = access;
    r->mask = w->mask;
    r->event = event;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) r->address[l] = address && (w->mask >> l & 1) ? address[l] : (u64)-1;
}

// Find where each active lane's access lands on the host; report the first lane that is wrong.
__device__ __noinline__ u32 resolve(Warp* w, const Access* a, u32 space, u64* address, u64* host) {
    const Launch* L = (const Launch*)w->launch;
    const u32 bytes = a->width * a->count;
    const Array* last = 0;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        const u64 at = address[l];
        if (at & (bytes - 1)) return fault(w, MISALIGNED, a->number, l, at);
        if (space == SHARED) {
            if (at + bytes > L->shared_bytes || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->shared + at;
        } else if (space == LOCAL) {
            if (at + bytes > L->local_bytes || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->local + l * L->local_bytes + at;
        } else if (space == CONSTANT) {
            if (at + bytes > L->constant_bytes || at + bytes < at) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            host[l] = w->constants + at;
        } else {
            if (!last || at < last->lo || at + bytes > last->hi) last = find(L, at, bytes);
            if (!last) return fault(w, OUT_OF_BOUNDS, a->number, l, at);
            if (a->kind == STORE && !last->writable) return fault(w, READ_ONLY, a->number, l, at);
            host[l] = last->host + (at - last->lo);
        }
    }
    return 0;
}

__device__ __noinline__ void check_hazards(Warp* w, const Access* a, const u64* address) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift, bytes = a->width * a->count;
    Cell* cells = (Cell*)k->shadow;
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left), me = w->index * LANES + l + 1;
        u32 same = a->kind == STORE;
        for (u32 i = 0; same && i < a->count; ++i)
            same = load_bytes(w->shared + address[l] + i * a->width, a->width, 0) ==
                   (read_slot(w, a->item[i], a->item_bytes, l) & (a->width == 8 ? ~0ull : (1ull << 8 * a->width) - 1));
#pragma unroll 1
        for (u64 g = address[l] >> shift; g <= (address[l] + bytes - 1) >> shift; ++g)
            check_cell(k, w, &cells[g], a->kind == STORE, me, a->number, g << shift, same);
        if (a->kind == STORE)   // so that a later lane of this store sees what this one wrote
            for (u32 i = 0; i < a->count; ++i)
                store_bytes(w->shared + address[l] + i * a->width, a->width, read_slot(w, a->item[i], a->item_bytes, l));
    }
}

__device__ __noinline__ void count(Worker* k, const Access* a, u32 space, u32 mask, const u64* address) {
    u64* n = (u64*)k->dynamic + 8 * a->number;
    const u32 bytes = a->width * a->count;
    n[0] += 1;
    n[1] += __popc(mask);
    if (space == GLOBAL) {
        n[2] += count_sectors(address, mask);
        n[5] += 1;
    } else if (space == SHARED) {
        u32 phases;
        n[3] += count_wavefronts(address, mask, bytes, a->kind == LOAD, &phases);
        n[4] += phases;
    }
}

// Execute one load or store for the active lanes of a warp. Returns 1 after a fault.
extern "C" __device__ u32 memory_access(Warp* w, const Access* a) {
    u64 address[LANES], host[LANES];
    Worker* k = (Worker*)w->worker;
    const u32 mask = w->mask;
    if (!mask) return 0;
    const u32 first = lowest(mask);
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
        address[l] = (a->has_address ? read_slot(w, a->address, a->address_bytes, l) : 0) + a->offset;
    if (a->address_bytes == 4)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] &= 0xffffffffu;
    u32 space = a->space;
    if (space == GENERIC) space = space_of(address[first]);
    if (a->space == GENERIC)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] -= window_of(space);
    if (resolve(w, a, space, address, host)) return 1;
    count(k, a, space, mask, address);
    if (w->traced) record(w, a->number, 0, address);
    if (space == SHARED && ((const Launch*)w->launch)->racecheck) check_hazards(w, a, address);
    if (a->kind == LOAD) {
#pragma unroll 1
        for (u32 i = 0; i < a->count; ++i)
#pragma unroll 1
            for (u32 left = mask; left; left &= left - 1) {
                const u32 l = lowest(left);
                write_slot(w, a->item[i], a->item_bytes, l, load_bytes(host[l] + i * a->width, a->width, a->sign));
            }
    } else {
#pragma unroll 1
        for (u32 i = 0; i < a->count; ++i)
#pragma unroll 1
            for (u32 left = mask; left; left &= left - 1) {
                const u32 l = lowest(left);
                store_bytes(host[l] + i * a->width, a->width, read_slot(w, a->item[i], a->item_bytes, l));
            }
    }
    return 0;
}

// ---- control --------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void wait_at(Warp* w, u32 block, u32 mask) {
    ((u32*)w->pending)[block] |= mask;
    ((u64*)w->bits)[block / 64] |= 1ull << (block & 63);
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

// Choose the lowest block at which lanes wait, count it, and make those lanes the active ones.
// Returns its number, or -1: no lane left, -2: step budget used up, -3: all lanes together, go on in fast code,
// -4: the next warp's turn.
extern "C" __device__ int next_block(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    Worker* k = (Worker*)w->worker;
    const u32 words = (L->blocks_of_code + 63) / 64;
    u64* bits = (u64*)w->bits;
    if (L->interleaved && !(w->slice ^= 1)) return -4;
#pragma unroll 1
    for (u32 i = 0; i < words; ++i) {
        if (!bits[i]) continue;
        const u32 b = i * 64 + __ffsll(bits[i]) - 1;
        u32* pending = &((u32*)w->pending)[b];
        const u32 mask = *pending;
        if (mask == FULL && L->fast && !w->no_fast && ((const u32*)L->fastable)[b]) {
            w->resume = b;
            return -3;
        }
        w->no_fast = 0;
        *pending = 0;
        bits[i] &= bits[i] - 1;
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
    return -1;
}

// A guarded instruction (not a branch) of number `n` runs under a smaller mask; count it on its own.
extern "C" __device__ void count_guarded(Warp* w, u32 n) {
    u64* c = (u64*)((Worker*)w->worker)->dynamic + 8 * n;
    c[6] += w->mask != 0;
    c[7] += __popc(w->mask);
}

// The active lanes reach a barrier: all living lanes of the warp must be among them.
extern "C" __device__ u32 arrive(Warp* w, u32 access, u32 next) {
    if (w->mask != w->alive) return fault(w, DIVERGENT_BARRIER, access, lowest(w->alive & ~w->mask), 0);
    if (w->traced) record(w, access, 1, 0);
    w->barrier = access;
    wait_at(w, next, w->mask);
    return 0;
}

extern "C" __device__ void sync_warp(Warp* w) { ++w->sync; }

// Turn the registers of fast code into full lane vectors for the blocks at which lanes now wait.
__device__ __noinline__ void leave_fast(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    const u32* start = (const u32*)L->live_start;
#pragma unroll 1
    for (u32 b = 0; b < L->blocks_of_code; ++b) {
        if (!((const u32*)w->pending)[b]) continue;
#pragma unroll 1
        for (u32 i = start[b]; i < start[b + 1]; ++i) {
            const Live* r = &((const Live*)L->live)[i];
            const u64 uniform = *(const u64*)(w->fast + r->fast);
            if (r->kind == UNIFORM_PREDICATE) {
                *(u32*)(w->registers + r->slot) = uniform & 1 ? FULL : 0;
                continue;
            }
#pragma unroll 1
            for (u32 l = 0; l < LANES; ++l) {
                u64 value = uniform;
                if (r->kind == SPLIT) value += load_bytes(w->fast + r->lanes + l * r->bytes, r->bytes, 0);
                write_slot(w, r->slot, r->bytes, l, value);
            }
        }
    }
}

// The way back, for the block w->resume. Says 0 when a register that fast code holds once differs between lanes.
__device__ __noinline__ u32 enter_fast(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    const u32* start = (const u32*)L->live_start;
#pragma unroll 1
    for (u32 i = start[w->resume]; i < start[w->resume + 1]; ++i) {
        const Live* r = &((const Live*)L->live)[i];
        u64* kept = (u64*)(w->fast + r->fast);
        if (r->kind == UNIFORM_PREDICATE) {
            const u32 lanes = *(const u32*)(w->registers + r->slot);
            if (lanes != 0 && lanes != FULL) return 0;
            *kept = lanes & 1;
            continue;
        }
        const u64 mask = r->bytes == 8 ? ~0ull : (1ull << 8 * r->bytes) - 1;
        const u64 part = w->fast + r->lanes;
        u64 base = read_slot(w, r->slot, r->bytes, 0);
        if (r->kind == SPLIT && !r->pattern) base -= load_bytes(part, r->bytes, 0);
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
        if (fresh) analyze((Pattern*)(w->fast + r->pattern), (const void*)part, r->bytes);
        *kept = base & mask;
    }
    return 1;
}

typedef int (*Code)(Warp*);

// Run one warp until it waits, ends or fails.
__device__ __noinline__ u32 run_warp(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
#pragma unroll 1
    while (true) {
        const u32 status = w->in_fast ? ((Code)L->fast)(w) : ((Code)L->masked)(w);
        if (status == DIVERGED) {
            leave_fast(w);
            w->in_fast = 0;
            w->no_fast = 1;
        } else if (status == CONVERGED) {
            if (enter_fast(w)) {
                w->in_fast = 1;
                w->mask = FULL;
                ((u32*)w->pending)[w->resume] = 0;
                ((u64*)w->bits)[w->resume / 64] &= ~(1ull << (w->resume & 63));
            } else {
                w->no_fast = 1;
            }
        } else {
            w->state = status == BARRIER ? WAITING : status == YIELDED ? READY : DONE;
            return status == FAILED;
        }
    }
}

__device__ __noinline__ void start_warp(Worker* k, const Launch* L, u32 index, u32 traced) {
    Warp* w = (Warp*)(k->warps + index * L->warp_bytes);
    const u32 threads = min(LANES, L->threads - index * LANES);
    w->exists = threads == LANES ? FULL : (1u << threads) - 1;
    w->mask = w->alive = w->exists;
    w->state = READY;
    w->sync = 0;
    w->no_fast = 0;
    w->in_fast = 0;
    w->slice = 0;
    w->traced = traced;
    w->steps = L->max_steps;
    const u32* pair = (const u32*)L->special;
#pragma unroll 1
    for (u32 i = 0; i < L->specials; ++i) {
        const u32 which = pair[2 * i];
        if (which >= 3) continue;
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) write_slot(w, pair[2 * i + 1], 4, l, w->block[which]);
    }
    wait_at(w, 0, w->exists);
}

__device__ __noinline__ u32 is_traced(const Launch* L, u64 block, u32 warp) {
    const u64* pair = (const u64*)L->trace_pair;
#pragma unroll 1
    for (u32 i = 0; i < L->trace_pairs; ++i)
        if (pair[2 * i] == block && pair[2 * i + 1] == warp) return 1;
    return 0;
}

__device__ __noinline__ void start_block(Worker* k, const Launch* L, u64 number) {
    k->block_number = number;
    k->epoch = 0;
#pragma unroll 1
    for (u64 i = 0; i < L->shared_bytes; i += 8) *(u64*)(k->shared + i) = 0x7fbadbad7fbadbadull;
    if (L->racecheck)
#pragma unroll 1
        for (u64 i = 0; i < (L->shared_bytes >> L->granule_shift) * sizeof(Cell); i += 8) *(u64*)(k->shadow + i) = 0;
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
        start_warp(k, L, i, L->trace_pairs ? is_traced(L, number, i) : 0);
    }
}

// Every living warp waits: let them go on, unless they wait at different barriers.
__device__ __noinline__ u32 release(Worker* k, const Launch* L) {
    Warp* first = 0;
    ++k->epoch;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        if (w->state != WAITING) continue;
        if (first && w->barrier != first->barrier) return fault(w, BARRIER_MISMATCH, w->barrier, 0, first->barrier);
        if (!first) first = w;
        w->state = READY;
    }
    return 0;
}

// Run the thread blocks [first, last). Returns 0, or 1 after a fault described in the worker.
extern "C" __device__ u32 run_blocks(Worker* k, u64 first, u64 last) {
    const Launch* L = (const Launch*)k->launch;
#pragma unroll 1
    for (u64 number = first; number < last; ++number) {
        start_block(k, L, number);
        u32 ready, waiting;
        do {
            ready = waiting = 0;
#pragma unroll 1
            for (u32 i = 0; i < L->warps; ++i) {
                Warp* w = (Warp*)(k->warps + ((const u32*)L->warp_order)[i] * L->warp_bytes);
                if (w->state == READY && run_warp(w)) return 1;
                ready += w->state == READY;
                waiting += w->state == WAITING;
                if (*(volatile u32*)L->stop) return fault(w, STOPPED, 0, 0, 0);
            }
            if (!ready && waiting && release(k, L)) return 1;
        } while (ready || waiting);
    }
    return 0;
}
