// readers.cuh -- racecheck for products of a warpgroup: their operands in shared memory, and their registers

// wgmma reads shared memory by the async proxy, from when it is issued until a wait of its warpgroup covers it. A write before it must be
// in order with the warp that reads it (each warp its 16 rows of A, all of them B: FlashAttention 3 relies on the former), and a
// fence.proxy.async must stand on the way from a write by the generic proxy. cp.async counts as one: so TileLang
// sees it, which puts a fence behind it; CUTLASS's main loop with cp.async has none, and we have not measured it. A write behind it must be in order
// with the wait of any of the four warps. Registers must not be touched from a product to its wait, and behind an ordinary use of one
// comes a wgmma.fence before the next product with it. Facts: "PTX ISA", Async Proxy, and wgmma.fence.

__device__ __forceinline__ Products* products_of(const Worker* k) { return (Products*)k->products; }
__device__ __forceinline__ OwnProducts* own_products(const Worker* k, u32 warp) { return &((OwnProducts*)products_of(k)->own)[warp]; }
__device__ __forceinline__ u32 racecheck_of(const Worker* k) { return ((const Launch*)k->launch)->racecheck; }

// Does a thread know that a wait of the warpgroup of `r` is over, whichever of its threads has told it?
__device__ __noinline__ bool knows_end(Worker* k, const Warp* w, const ProductReading* r, u32 me) {
    const u32 threads = k->clocks ? GROUP_WARPS * LANES : GROUP_WARPS, step = k->clocks ? 1 : LANES;
#pragma unroll 1
    for (u32 i = 0; i < threads; ++i)
        if (!unordered(k, w, me, r->thread + i * step, r->epoch, 0)) return true;
    return false;
}

// A thread writes a granule: are products reading it, or have some read it whose end it does not know of?
__device__ __noinline__ void check_products(Worker* k, const Warp* w, u64 granule, u32 me, u32 access, u64 address) {
    const ProductReading* r = &((const ProductReading*)products_of(k)->readings)[granule];
    const u32 others = r->epoch && (r->thread - 1) / LANES / GROUP_WARPS != w->index / GROUP_WARPS;
    if (r->count || others && !knows_end(k, w, r, me)) log_hazard(k, WAR, r->access, access, r->thread, me, address);
}

// One granule of an operand, which this warp's product is going to read.
__device__ __noinline__ void check_operand(Worker* k, const Warp* w, u64 granule, u32 number, u64 address) {
    const Cell* c = &((const Cell*)k->shadow)[granule];
    const u32 me = w->index * LANES + 1, written = c->write_access & ~BY_ATOMIC;
    if (c->written & IN_FLIGHT) log_hazard(k, RAW, written, number, c->writer, me, address);
    else if (!((const u32*)k->epochs)[granule]) log_hazard(k, UNINITIALISED, number, number, me, me, address);
    else if (write_unordered(k, w, c, me)) log_hazard(k, RAW, written, number, c->writer, me, address);
    else if (c->written & BY_GENERIC) log_hazard(k, PROXY, written, number, c->writer, me, address);
}

enum Reading { CHECK_READING, BEGIN_READING, END_READING };

__device__ __noinline__ void follow_piece(Worker* k, const Warp* w, u32 number, u32 what, u64 address) {
    const u32 shift = ((const Launch*)k->launch)->granule_shift;
#pragma unroll 1
    for (u64 g = address >> shift; g <= (address + PIECE - 1) >> shift; ++g) {
        ProductReading* r = &((ProductReading*)products_of(k)->readings)[g];
        if (what == CHECK_READING) {
            check_operand(k, w, g, number, g << shift);
            continue;
        }
        r->count += what == BEGIN_READING ? 1 : -1;
        r->access = number;
        r->thread = (w->index & ~(GROUP_WARPS - 1)) * LANES + 1;
        r->epoch = what == END_READING ? k->epoch + 1 : 0;
    }
}

// All pieces with something of the rows [first, end).
__device__ __noinline__ void follow_rows(Worker* k, const Warp* w, const WideProduct* p, u64 descriptor, u32 across, u32 first, u32 end, u32 what) {
    Layout m;
    open_descriptor(&m, descriptor, across);
    const u64 begin = ((const Launch*)k->launch)->shared_begin;
    const u32 lines = across ? 0 : first, last_line = across ? p->k : end, pieces = across ? first / 8 : 0, last_piece = across ? end / 8 : 2;
#pragma unroll 1
    for (u32 line = lines; line < last_line; ++line)
#pragma unroll 1
        for (u32 piece = pieces; piece < last_piece; ++piece) follow_piece(k, w, p->number, what, piece_at(&m, line, piece) - begin);
}

__device__ __noinline__ void follow_operands(Worker* k, const Warp* w, const Issue* i, u32 what) {
    const WideProduct* p = (const WideProduct*)i->product;
    const u32 own = what == CHECK_READING ? w->index % GROUP_WARPS * WARP_ROWS : 0;
    if (p->a_descriptor != ~0u)
        follow_rows(k, w, p, i->a, p->across_a, own, what == CHECK_READING ? own + WARP_ROWS : GROUP_ROWS, what);
    follow_rows(k, w, p, i->b, p->across_b, 0, p->n, what);
}

__device__ __forceinline__ u32 place_of(u32 slot) { return slot / SLOT_UNIT; }
__device__ __forceinline__ void note_registers(Worker* k, const Warp* w, u32 kind, u64 first, u32 second) {
    const u32 thread = w->index * LANES + 1;
    log_hazard(k, kind, (u32)first, second, thread, thread, 0);
}

// The last use of a register: how many fences of its warp came before it, and in the lower half the instruction's number + 1; above that a
// product leaves its columns, for products of one shape may follow each other without a fence.
enum { COLUMNS_AT = 24, NUMBER_BITS = 0xffffff, BY_PRODUCT = 0x80 };

// The registers of a product: has another instruction used one since the last wgmma.fence?
__device__ __noinline__ void check_fenced(Worker* k, const Warp* w, const OwnProducts* f, const WideProduct* p) {
    const u32 columns = BY_PRODUCT | p->n / 8, in_a = p->a_descriptor == ~0u ? 4 : 0;
    if (!f->fences) note_registers(k, w, UNORDERED, p->number, p->number);
#pragma unroll 1
    for (u32 i = 0; f->fences && i < p->registers + in_a; ++i) {
        u64* last = &((u64*)f->touched)[place_of(i < in_a ? p->a[i] : p->d[i - in_a])];
        const u32 use = *last >> 32 == f->fences ? (u32)*last : 0, same = use >> COLUMNS_AT == columns && i >= in_a;
        if (use && !same) note_registers(k, w, UNORDERED, (use & NUMBER_BITS) - 1, p->number);
        if (i >= in_a) *last = (u64)f->fences << 32 | columns << COLUMNS_AT | (p->number + 1);
    }
#pragma unroll 1
    for (u32 i = 0; i < in_a; ++i) {
        const u64 held = ((const u64*)f->held)[place_of(p->a[i])];
        if ((u32)held) note_registers(k, w, PENDING, held >> 32, p->number);
    }
}

// An ordinary instruction uses registers of products. list: how many, whether it only moves values, and for each its place, plus 1 where
// it is written. Compilers copy registers where the source does not: a copy of a factor may stand anywhere, and needs no fence.
extern "C" __device__ void touch_registers(Warp* w, u32 number, const u32* list) {
    Worker* k = (Worker*)w->worker;
    if (!racecheck_of(k) || !w->mask) return;
    OwnProducts* f = own_products(k, w->index);
#pragma unroll 1
    for (u32 i = 0; i < list[0]; ++i) {
        const u32 at = place_of(list[2 + i]), written = list[2 + i] & 1;
        const u64 held = ((const u64*)f->held)[at], lent = ((const u64*)f->lent)[at];
        if ((u32)held) note_registers(k, w, PENDING, held >> 32, number);
        else if ((u32)lent && (written || !list[1])) note_registers(k, w, PENDING, lent >> 32, number);
        if (!list[1]) ((u64*)f->touched)[at] = (u64)f->fences << 32 | (number + 1 & NUMBER_BITS);
    }
}
