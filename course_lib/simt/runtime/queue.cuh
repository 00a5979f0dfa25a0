// queue.cuh -- asynchronous copies that are under way, and what all lanes of a warp do at once

// A lane's copies arrive in the order in which they were issued, all of them at the latest when the kernel ends. Until then the
// bytes in shared memory are the old ones, so a missing wait shows. A warp has at most 256 copies under way; the oldest arrives
// when one more is issued.

enum { MOST_COPIES = 256 };

__device__ __noinline__ void mark_flight(Warp* w, u64 address, u32 bytes, u32 flying) {
    Worker* k = (Worker*)w->worker;
    const u32 shift = ((const Launch*)w->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = address >> shift; g <= (address + bytes - 1) >> shift; ++g) {
        Cell* c = &((Cell*)k->shadow)[g];
        c->written = flying ? IN_FLIGHT : 1 | BY_GENERIC;
        c->write_epoch = ((u32*)k->epochs)[g] = k->epoch + 1;
        c->write_sync = w->sync;
    }
}

// codegen/copies.py has these: what all lanes do at once. Addresses are those of 32 numbers.
extern "C" __device__ void addresses_4(u64 slot, i64 offset, u64* out);
extern "C" __device__ void addresses_8(u64 slot, i64 offset, u64* out);
extern "C" __device__ u32 lanes_inside(const u64* address, u64 low, u64 span);     // lanes in [low, low + span)
extern "C" __device__ u32 lanes_aligned(const u64* address, u64 odd);              // lanes that have none of these bits
extern "C" __device__ u32 lanes_equal(u64 slot, u32 value);
extern "C" __device__ u32 repeats_pattern(i64* old, const u64* address, u64 first, u32 mask);   // afterwards `old` is the new one
extern "C" __device__ u32 lanes_ready(const u32* group, const u32* committed, u32 left);        // lanes with group + left < committed
extern "C" __device__ void commit_lanes(u32* committed, u32 mask);
extern "C" __device__ void narrow_lanes(u32* to, const u64* from);
extern "C" __device__ void copy_row_4(u64 to, u64 from);
extern "C" __device__ void copy_row_8(u64 to, u64 from);
extern "C" __device__ void copy_row_16(u64 to, u64 from);

// Copy 4, 8 or 16 bytes; both addresses are multiples of the size, or of 8.
__device__ __forceinline__ void move_whole(u64 to, u64 from, u32 bytes) {
    if (bytes == 4) {
        *(u32*)to = *(const u32*)from;
        return;
    }
    *(u64*)to = *(const u64*)from;
    if (bytes == 16) *(u64*)(to + 8) = *(const u64*)(from + 8);
}

// 32 lanes, side by side in both places.
__device__ __forceinline__ void move_row(u64 to, u64 from, u32 bytes) {
    bytes == 4 ? copy_row_4(to, from) : bytes == 8 ? copy_row_8(to, from) : copy_row_16(to, from);
}

// From each lane's address to 32 places side by side, and back.
template <u32 BYTES>
__device__ __noinline__ void gather_lanes(u64 to, u64 shift, const u64* from) {
#pragma unroll
    for (u32 l = 0; l < LANES; ++l) move_whole(to + BYTES * l, shift + from[l], BYTES);
}

template <u32 BYTES>
__device__ __noinline__ void scatter_lanes(u64 shift, const u32* to, u64 from) {
#pragma unroll
    for (u32 l = 0; l < LANES; ++l) move_whole(shift + to[l], from + BYTES * l, BYTES);
}

// Write the data of one copy for the lanes of `mask`.
__device__ __noinline__ void land(Warp* w, InFlight* f, u32 mask) {
    const u32 race = ((const Launch*)w->launch)->racecheck;
    const u64 data = (u64)f->data;
    f->mask &= ~mask;
    if (mask == FULL && !race) {
        if (f->row) move_row(w->shared + f->target[0], data, f->bytes);
        else f->bytes == 4 ? scatter_lanes<4>(w->shared, f->target, data) : f->bytes == 8 ? scatter_lanes<8>(w->shared, f->target, data)
                                                                                      : scatter_lanes<16>(w->shared, f->target, data);
        return;
    }
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        move_whole(w->shared + f->target[l], data + f->bytes * l, f->bytes);
        if (race) mark_flight(w, f->target[l], f->bytes, 0);
    }
}

__device__ __forceinline__ Queue* queue_of(Warp* w) { return &((Queue*)((Worker*)w->worker)->queues)[w->index]; }

__device__ __forceinline__ InFlight* in_flight(Queue* q, u32 i) { return &q->copy[q->order[(q->first + i) % MOST_COPIES]]; }

// What is dropped is taken again first: its bytes are in the processor's nearest cache.
__device__ __forceinline__ void drop_empty(Queue* q) {
    u32 next = q->first + q->count;
#pragma unroll 1
    for (; q->count && !in_flight(q, 0)->mask; ++next) {
        u8 *dropped = &q->order[q->first], *unused = &q->order[next % MOST_COPIES];
        const u8 which = *dropped;
        *dropped = *unused;
        *unused = which;
        q->first = (q->first + 1) % MOST_COPIES;
        --q->count;
    }
}

// The place of one more copy; when there is none, the oldest arrives.
__device__ __noinline__ InFlight* take_place(Warp* w, const Copy* c) {
    Queue* q = queue_of(w);
    if (q->count == MOST_COPIES) {
        land(w, in_flight(q, 0), in_flight(q, 0)->mask);
        drop_empty(q);
    }
    InFlight* f = in_flight(q, q->count++);
    f->mask = w->mask;
    f->bytes = c->bytes;
    f->row = 0;
    f->serial = q->issued++;
    return f;
}

