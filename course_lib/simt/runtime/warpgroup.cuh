// warpgroup.cuh -- wgmma: products of four warps that are carried out when a wait asks for them

// A product is one of the warpgroup: it cannot end before all four warps have issued it, and has ended for all of them when the wait of
// one is over; so kernels use it that let a single thread hand the operands' memory back. Until then nothing has been read from shared
// memory or from A's registers, and D's registers hold poison until their own warp has waited; what they will hold is in a shadow of the
// register file. A warp that waits for others stops and begins the block of code with its wait again when they have come.

enum { MOST_PRODUCTS = 128, UNDEFINED_BITS = 0x7fff7fff };   // no number, as a float and as two halves
enum Differing { LANES_OF_WARP, INSTRUCTION, OPERANDS };

__device__ __forceinline__ const Issue* issue_at(const OwnProducts* f, u32 i) { return &f->issue[i % MOST_PRODUCTS]; }
__device__ __forceinline__ u32 first_of(const Warp* w) { return w->index & ~(GROUP_WARPS - 1); }

__device__ __forceinline__ void copy_register(u64 to, u64 from) {
#pragma unroll
    for (u32 i = 0; i < LANES * 4; i += 8) *(u64*)(to + i) = *(const u64*)(from + i);
}

__device__ __forceinline__ void fill_register(u64 to, u64 value) {
#pragma unroll
    for (u32 i = 0; i < LANES * 4; i += 8) *(u64*)(to + i) = value;
}

// Has another warp of the warpgroup issued its product `at`, and does it still know of it? Returns its number in the block, or ~0.
__device__ __noinline__ u32 issued_by_other(const Worker* k, const Warp* w, u32 at) {
#pragma unroll 1
    for (u32 i = first_of(w); i < first_of(w) + GROUP_WARPS; ++i)
        if (i != w->index && own_products(k, i)->issued - at - 1 < MOST_PRODUCTS) return i;
    return ~0u;
}

// Fill in the operands that all lanes must name alike. Returns 1 after a fault.
__device__ __noinline__ u32 read_operands(Warp* w, const WideProduct* p, Issue* i) {
    i->product = (u64)p;
    i->a = p->a_descriptor == ~0u ? 0 : read_slot(w, p->a_descriptor, 8, 0);
    i->b = read_slot(w, p->b_descriptor, 8, 0);
    const u32 given = p->accumulate == ~0u ? 0 : bits_of(w, p->accumulate), lanes = p->accumulate_negated ? ~given : given;
    i->accumulate = lanes & 1;
#pragma unroll 1
    for (u32 l = 1; l < LANES; ++l)
        if (p->a_descriptor != ~0u && read_slot(w, p->a_descriptor, 8, l) != i->a || read_slot(w, p->b_descriptor, 8, l) != i->b ||
            (lanes >> l & 1) != i->accumulate)
            return fault(w, PRODUCTS_DIFFER, p->number, l, LANES_OF_WARP);
    return 0;
}

// Compare a product with that of another warp; where there is none yet, look whether its operands are there.
__device__ __noinline__ u32 check_issue(Worker* k, Warp* w, const WideProduct* p, const Issue* i, u32 other, u32 at) {
    const Launch* L = (const Launch*)k->launch;
    if (other != ~0u) {
        const Issue* j = issue_at(own_products(k, other), at);
        const u32 number = ((const WideProduct*)j->product)->number;
        if (number != p->number) return fault(w, PRODUCTS_DIFFER, p->number, 0, (u64)number << 32 | INSTRUCTION);
        if (j->a != i->a || j->b != i->b || j->accumulate != i->accumulate)
            return fault(w, PRODUCTS_DIFFER, p->number, 0, (u64)other << 32 | OPERANDS);
        return 0;
    }
    Layout m;
    u64 where;
    open_descriptor(&m, i->a, p->across_a);
    if (p->a_descriptor != ~0u && !lies_inside(L, &m, lines_of(p, GROUP_ROWS, p->across_a), pieces_of(GROUP_ROWS, p->across_a), &where))
        return fault(w, DESCRIPTOR_OUTSIDE, p->number, 0, where);
    open_descriptor(&m, i->b, p->across_b);
    if (!lies_inside(L, &m, lines_of(p, p->n, p->across_b), pieces_of(p->n, p->across_b), &where))
        return fault(w, DESCRIPTOR_OUTSIDE, p->number, 0, where);
    return 0;
}

// From here on D's registers are the product's: they hold poison, unless a product before this one has them already.
__device__ __noinline__ void take_registers(Warp* w, OwnProducts* f, const WideProduct* p) {
#pragma unroll 1
    for (u32 i = 0; i < p->registers; ++i) {
        u64* held = &((u64*)f->held)[place_of(p->d[i])];
        if (!(u32)*held) {
            copy_register(f->shadow + p->d[i], w->registers + p->d[i]);
            fill_register(w->registers + p->d[i], (u64)UNDEFINED_BITS << 32 | UNDEFINED_BITS);
        }
        *held = (u64)p->number << 32 | ((u32)*held + 1);
    }
#pragma unroll 1
    for (u32 i = 0; p->a_descriptor == ~0u && i < 4; ++i) {
        u64* lent = &((u64*)f->lent)[place_of(p->a[i])];
        *lent = (u64)p->number << 32 | ((u32)*lent + 1);
    }
}

__device__ __noinline__ void give_registers(Warp* w, OwnProducts* f, const WideProduct* p) {
#pragma unroll 1
    for (u32 i = 0; i < p->registers; ++i) {
        u64* held = &((u64*)f->held)[place_of(p->d[i])];
        if (!(u32)--*held) copy_register(w->registers + p->d[i], f->shadow + p->d[i]);
    }
#pragma unroll 1
    for (u32 i = 0; p->a_descriptor == ~0u && i < 4; ++i) --((u64*)f->lent)[place_of(p->a[i])];
}

// wgmma.mma_async: note the product. Returns 1 after a fault.
extern "C" __device__ u32 issue_product(Warp* w, const WideProduct* p) {
    Worker* k = (Worker*)w->worker;
    if (!w->mask) return 0;
    if (whole_warp(w, p->number)) return 1;
    if (w->traced) record(w, p->number, 0, 0);
    if ((first_of(w) + GROUP_WARPS) * LANES > ((const Launch*)k->launch)->threads) return fault(w, NO_WARPGROUP, p->number, 0, 0);
    OwnProducts* f = own_products(k, w->index);
    if (f->issued - f->delivered == MOST_PRODUCTS) return fault(w, TOO_MANY_PRODUCTS, p->number, 0, MOST_PRODUCTS);
    const u32 at = f->issued, other = issued_by_other(k, w, at);
    Issue* i = &f->issue[at % MOST_PRODUCTS];
    if (read_operands(w, p, i) || check_issue(k, w, p, i, other, at)) return 1;
    if (racecheck_of(k)) {
        check_fenced(k, w, f, p);
        follow_operands(k, w, i, CHECK_READING);
        if (other == ~0u) follow_operands(k, w, i, BEGIN_READING);
    }
    i->group = f->committed;
    take_registers(w, f, p);
    w->role |= ISSUED_PRODUCTS;
    ++f->issued;
    return 0;
}

// -- carrying products out ---------------------------------------------------------------------------------------------------------------
__device__ __noinline__ u32 read_factors(Worker* k, u32 first, const Issue* i, Scratch* s) {
    const WideProduct* p = (const WideProduct*)i->product;
    const Launch* L = (const Launch*)k->launch;
    const u64 shared = k->shared - L->shared_begin;
    Layout m;
    open_descriptor(&m, i->b, p->across_b);
    read_matrix(shared, &m, p->n, p->k, p->bits, 1, p->n, s->words, s->b_raw);
    if (p->a_descriptor != ~0u) {
        open_descriptor(&m, i->a, p->across_a);
        read_matrix(shared, &m, GROUP_ROWS, p->k, p->bits, p->k, 1, s->words, s->a_raw);
    } else {
#pragma unroll 1
        for (u32 g = 0; g < GROUP_WARPS; ++g)
            collect_a((const Warp*)(k->warps + (first + g) * L->warp_bytes), p, s->words + g * WARP_ROWS * 8);
        spread_words(s->words, GROUP_ROWS, p->bits, p->k, 1, s->a_raw);
    }
    bring_to_form(s->a_raw, GROUP_ROWS * p->k, p->kind_a, p->negate_a);
    bring_to_form(s->b_raw, p->k * p->n, p->kind_b, p->negate_b);
    if (p->kind_a >= S8) return 0;
    const u32 special = take_apart(s->a_raw, (int*)s->a_size, (int*)s->a_exponent, GROUP_ROWS * p->k, p->kind_a);
    return special | take_apart(s->b_raw, (int*)s->b_size, (int*)s->b_exponent, p->k * p->n, p->kind_b);
}

// The product number `at` of a warpgroup, from and to the shadows of its registers.
__device__ __noinline__ void multiply_group(Worker* k, u32 first, u32 at) {
    const Issue* i = issue_at(own_products(k, first), at);
    const WideProduct* p = (const WideProduct*)i->product;
    Scratch* s = (Scratch*)products_of(k)->scratch;
    const u32 special = read_factors(k, first, i, s);
#pragma unroll 1
    for (u32 g = 0; g < GROUP_WARPS; ++g) {
        const u64 shadow = own_products(k, first + g)->shadow;
        if (i->accumulate) collect_rows(p, shadow, s->c);
        else
#pragma unroll 1
            for (u32 e = 0; e < WARP_ROWS * p->n; ++e) s->c[e] = 0;
#pragma unroll 1
        for (u32 row = 0; row < WARP_ROWS; ++row) {
            if (p->kind_a >= S8) row_of_integers(p, s, g * WARP_ROWS + row, s->c + row * p->n);
            else row_of_floats(p, s, g * WARP_ROWS + row, special, s->c + row * p->n);
        }
        distribute_rows(p, shadow, s->c);
    }
}
