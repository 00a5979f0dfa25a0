// groupwaits.cuh -- where a warp waits for others of its warpgroup, or for registers; and what happens between the turns of warps

enum ProductStep { FENCE_STEP, COMMIT_STEP, RELEASE_STEP };
enum Awaited { FOR_PRODUCTS, FOR_REGISTERS };

// Up to which product a wait asks for: all but the last `left` groups, and none that no group holds yet.
__device__ __noinline__ u32 wanted_by(const OwnProducts* f, u32 left) {
    u32 at = f->delivered;
#pragma unroll 1
    while (at < f->issued && issue_at(f, at)->group + left < f->committed) ++at;
    return at;
}

// A warp of the warpgroup that has not issued that many products, or ~0.
__device__ __noinline__ u32 behind_others(const Worker* k, const Warp* w, u32 wanted) {
#pragma unroll 1
    for (u32 i = first_of(w); i < first_of(w) + GROUP_WARPS; ++i)
        if (own_products(k, i)->issued < wanted) return i;
    return ~0u;
}

__device__ __forceinline__ u32 missing_registers(const OwnProducts* f, const Products* all, const Await* a) {
    const u32 more = (a->amount - f->registers) * LANES;
    return more > all->free_registers ? more - all->free_registers : 0;
}

// Must this warp stop at its wait?
__device__ __noinline__ u32 must_wait(const Worker* k, const Warp* w, const Await* a) {
    const OwnProducts* f = own_products(k, w->index);
    if (a->kind == FOR_REGISTERS) return missing_registers(f, products_of(k), a) != 0;
    return behind_others(k, w, wanted_by(f, a->amount)) != ~0u;
}

// All lanes begin `block` again when another warp has come as far as this one needs it; so far it has not been executed.
__device__ __noinline__ u32 stop_here(Warp* w, const Await* a, u32 block) {
    Worker* k = (Worker*)w->worker;
    ((u64*)k->executed)[block] -= 1;
    ((u64*)k->threads)[block] -= LANES;
    w->steps += ((const u32*)((const Launch*)k->launch)->block_size)[block];
    w->parked = FULL;
    w->barrier = a->number;
    w->bar = (u64)a;
    w->bar_id = AWAITING;
    w->bar_count = w->bar_true = 0;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) w->park_next[l] = block;
    return STOPS;
}

__device__ __noinline__ void finish_products(Worker* k, Warp* w, u32 wanted) {
    OwnProducts *f = own_products(k, w->index), *first = own_products(k, first_of(w));
#pragma unroll 1
    for (; first->done < wanted; ++first->done) {
        multiply_group(k, first_of(w), first->done);
        if (racecheck_of(k)) follow_operands(k, w, issue_at(first, first->done), END_READING);
    }
#pragma unroll 1
    for (; f->delivered < wanted; ++f->delivered) give_registers(w, f, (const WideProduct*)issue_at(f, f->delivered)->product);
}

// wgmma.wait_group, setmaxnreg.inc: the first instruction of its block of code.
extern "C" __device__ u32 wait_here(Warp* w, const Await* a, u32 block, u32 lanes) {
    Worker* k = (Worker*)w->worker;
    if (!(w->mask & lanes)) return GOES_ON;
    w->mask &= lanes;
    if (whole_warp(w, a->number)) return WAIT_FAILED;
    OwnProducts* f = own_products(k, w->index);
    const u32 limited = a->kind == FOR_REGISTERS && f->registers;
    if (limited && a->amount < f->registers) return fault(w, REGISTERS_MISUSE, a->number, 0, f->registers);
    if ((limited || a->kind == FOR_PRODUCTS) && must_wait(k, w, a)) return stop_here(w, a, block);
    if (w->traced) record(w, a->number, 0, 0);
    if (a->kind == FOR_PRODUCTS) finish_products(k, w, wanted_by(f, a->amount));
    if (limited) {
        products_of(k)->free_registers -= (a->amount - f->registers) * LANES;
        f->registers = a->amount;
    }
    if (a->guarded) count_guarded(w, a->number);
    return GOES_ON;
}

// wgmma.fence, wgmma.commit_group, setmaxnreg.dec. A kernel compiled without a limit has no registers to hand out: setmaxnreg does nothing.
extern "C" __device__ u32 product_step(Warp* w, const Await* a) {
    Worker* k = (Worker*)w->worker;
    if (!w->mask) return 0;
    if (whole_warp(w, a->number)) return 1;
    if (w->traced) record(w, a->number, 0, 0);
    OwnProducts* f = own_products(k, w->index);
    f->fences += a->kind == FENCE_STEP;
    f->committed += a->kind == COMMIT_STEP;
    if (a->kind != RELEASE_STEP || !f->registers) return 0;
    if (a->amount > f->registers) return fault(w, REGISTERS_MISUSE, a->number, 0, f->registers);
    products_of(k)->free_registers += (f->registers - a->amount) * LANES;
    f->registers = a->amount;
    return 0;
}

// -- a block's turns ---------------------------------------------------------------------------------------------------------------------
// Warps that stopped at a wait go on where they need not wait any more.
__device__ __noinline__ void wake_warps(Worker* k, const Launch* L) {
    if (!k->products) return;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        if (w->state == WAITING && w->bar_id == AWAITING && !must_wait(k, w, (const Await*)w->bar)) w->state = READY;
    }
}

// No warp can run, and this one waits for another warp of its warpgroup, or for registers.
__device__ u32 stuck_warpgroup(Worker* k, Warp* w) {
    const Await* a = (const Await*)w->bar;
    const OwnProducts* f = own_products(k, w->index);
    if (a->kind == FOR_REGISTERS) return fault(w, STUCK_WARPGROUP, a->number, 0, missing_registers(f, products_of(k), a));
    const u32 other = behind_others(k, w, wanted_by(f, a->amount));
    const Warp* o = (const Warp*)(k->warps + other * ((const Launch*)k->launch)->warp_bytes);
    return fault(w, STUCK_WARPGROUP, a->number, 0, (u64)other << 32 | (o->state == DONE ? ~0u : o->barrier));
}

// All warps have ended: has one issued a product that another one of its warpgroup has not? Returns 1 after a fault.
__device__ __noinline__ u32 left_alone(Worker* k, const Launch* L) {
    if (!k->products) return 0;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = (Warp*)(k->warps + i * L->warp_bytes);
        const OwnProducts* f = own_products(k, i);
        const u32 other = f->issued ? behind_others(k, w, f->issued) : ~0u;
        if (other == ~0u) continue;
        const Issue* last = issue_at(f, f->issued - 1);
        return fault(w, NO_WARPGROUP, ((const WideProduct*)last->product)->number, 0, 1 + other);
    }
    return 0;
}

// A new block of threads.
__device__ __noinline__ void clear_products(Worker* k, const Launch* L) {
    if (!k->products) return;
    const u64 places = (L->uniform_offset - L->register_offset) / SLOT_UNIT;
    products_of(k)->free_registers = 0;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        OwnProducts* f = own_products(k, i);
        f->issued = f->done = f->delivered = f->committed = f->fences = 0;
        f->registers = products_of(k)->first_registers;
#pragma unroll 1
        for (u64 at = 0; at < places; ++at) ((u64*)f->held)[at] = ((u64*)f->lent)[at] = ((u64*)f->touched)[at] = 0;
    }
    if (!L->racecheck) return;
#pragma unroll 1
    for (u64 g = 0; g <= L->shared_bytes >> L->granule_shift; ++g) {
        ProductReading* r = &((ProductReading*)products_of(k)->readings)[g];
        r->count = r->access = r->thread = r->epoch = 0;
    }
}
