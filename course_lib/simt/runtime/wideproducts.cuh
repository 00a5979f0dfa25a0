// wideproducts.cuh -- D = A * B + C of a warpgroup: 64 rows, 8 to 256 columns, 32 bytes along K

// One sum of a product's whole depth, as fused.cuh has it. With factors of 8 bits, terms are cut off 13 bits behind the point instead of
// 25, and a float keeps 13 bits of its fraction: so P. Xie et al. (arXiv:2511.10909) found wgmma on an H100. Not measured by us.

enum { GROUP_ROWS = 64, WARP_ROWS = 16, LEFT_OUT = 0x3ff };

// codegen/fused.py has these: the sums of fused_sum for factors of 8 bits, as sums_of_floats and sums_of_halves are for others.
extern "C" __device__ u32 eights_to_floats(const int* as, const int* ae, const int* bs, const int* be, const u32* c, u32* d, int* top,
                                            u32 depth, u32 stride, u32 shift);
extern "C" __device__ u32 eights_to_halves(const int* as, const int* ae, const int* bs, const int* be, const u32* c, i64* d, int* top,
                                            u32 depth, u32 stride, u32 shift);

__device__ __forceinline__ bool is_eight(u32 kind) { return kind == E4M3 || kind == E5M2; }
__device__ __forceinline__ u32 fraction_in(u32 kind) { return kind == E4M3 ? 3 : kind == E5M2 ? 2 : fraction_of(kind); }
__device__ __forceinline__ u32 width_in(u32 kind) { return kind == E4M3 ? 9 : kind == E5M2 ? 8 : kind == TF32 ? 19 : 16; }

// e4m3 has exponents of 4 bits whose last one is no infinity: here it gets 5, and is 2^8 too small until `adjust`.
__device__ __noinline__ void bring_to_form(u32* raw, u32 count, u32 kind, u32 negate) {
    const u32 flip = negate ? 1u << (width_in(kind) - 1) : 0;
    if (kind == TF32)
#pragma unroll 1
        for (u32 i = 0; i < count; ++i) raw[i] >>= 13;
    if (kind == E4M3)
#pragma unroll 1
        for (u32 i = 0; i < count; ++i) raw[i] = (raw[i] & 0x80) << 1 | ((raw[i] & 0x7f) == 0x7f ? 0xff : raw[i] & 0x7f);
    if (kind == S8)
#pragma unroll 1
        for (u32 i = 0; i < count; ++i) raw[i] = (int)(signed char)raw[i];
    if (flip)
#pragma unroll 1
        for (u32 i = 0; i < count; ++i) raw[i] ^= flip;
}

__device__ __forceinline__ int adjust(u32 kind) { return kind == E4M3 ? 8 : 0; }

// Significands and exponents of all numbers; returns 0 unless some number is infinite or none.
__device__ __noinline__ u32 take_apart(const u32* raw, int* sizes, int* exponents, u32 count, u32 kind) {
    const u32 special = unpack_parts(raw, sizes, exponents, count, fraction_in(kind), width_in(kind));
    if (adjust(kind))
#pragma unroll 1
        for (u32 i = 0; i < count; ++i) exponents[i] += 8;
    return special;
}

__device__ __noinline__ void part_of(Part* part, u32 bits, u32 kind) {
    unpack(part, bits, fraction_in(kind), width_in(kind));
    part->exponent += adjust(kind);
}

// One row of D, where some number may be infinite or none.
__device__ __noinline__ void slow_row(const WideProduct* p, const u32* a, const u32* b, u32* c) {
    Part x[32], y[32], start;
    const u32 fractions = fraction_in(p->kind_a) + fraction_in(p->kind_b), own = p->half ? 10 : 23;
    const u32 eights = is_eight(p->kind_a);
#pragma unroll 1
    for (u32 k = 0; k < p->k; ++k) part_of(&x[k], a[k], p->kind_a);
#pragma unroll 1
    for (u32 j = 0; j < p->n; ++j) {
#pragma unroll 1
        for (u32 k = 0; k < p->k; ++k) part_of(&y[k], b[k * p->n + j], p->kind_b);
        unpack(&start, c[j], own, p->half ? 16 : 32);
        const u32 sum = fused_sum(x, y, &start, p->k, fractions, own, p->half, eights ? GUARD_OF_EIGHTS : GUARD);
        c[j] = eights && !p->half && (sum & 0x7f800000) != 0x7f800000 ? sum & ~LEFT_OUT : sum;
    }
}

// Eight numbers of a row of D. Returns 0 unless one of C is infinite or none.
__device__ __noinline__ u32 eight_sums(const WideProduct* p, const int* as, const int* ae, const int* bs, const int* be, const u32* c, u32* d) {
    i64 sum[8];
    int top[8];
    const u32 eights = is_eight(p->kind_a), fractions = fraction_in(p->kind_a) + fraction_in(p->kind_b);
    const int guard = eights ? GUARD_OF_EIGHTS : GUARD;
    const u32 shift = guard - fractions;
    if (!p->half) {
        if (!eights) return sums_of_floats(as, ae, bs, be, c, d, top, p->k, p->n, shift);
        if (eights_to_floats(as, ae, bs, be, c, d, top, p->k, p->n, shift)) return 1;
#pragma unroll 1
        for (u32 i = 0; i < 8; ++i) d[i] &= ~LEFT_OUT;
        return 0;
    }
    if (eights ? eights_to_halves(as, ae, bs, be, c, sum, top, p->k, p->n, shift) : sums_of_halves(as, ae, bs, be, c, sum, top, p->k, p->n, shift))
        return 1;
#pragma unroll 1
    for (u32 i = 0; i < 8; ++i) d[i] = to_half(sum[i], top[i] - guard);
    return 0;
}

__device__ __noinline__ void row_of_floats(const WideProduct* p, Scratch* s, u32 row, u32 special, u32* c) {
    const int *as = (const int*)s->a_size + row * p->k, *ae = (const int*)s->a_exponent + row * p->k;
#pragma unroll 1
    for (u32 j = 0; !special && j < p->n; j += 8)
        special = eight_sums(p, as, ae, (const int*)s->b_size + j, (const int*)s->b_exponent + j, c + j, s->row + j);
    if (special) {
        slow_row(p, s->a_raw + row * p->k, s->b_raw, c);
        return;
    }
#pragma unroll 1
    for (u32 j = 0; j < p->n; ++j) c[j] = s->row[j];
}

__device__ __noinline__ void row_of_integers(const WideProduct* p, Scratch* s, u32 row, u32* c) {
#pragma unroll 1
    for (u32 j = 0; j < p->n; ++j) s->row[j] = 0;
#pragma unroll 1
    for (u32 k = 0; k < p->k; ++k) {
        const u32 a = s->a_raw[row * p->k + k];
        const u32* b = s->b_raw + k * p->n;
#pragma unroll 1
        for (u32 j = 0; j < p->n; ++j) s->row[j] += a * b[j];
    }
#pragma unroll 1
    for (u32 j = 0; j < p->n; ++j) {
        const i64 sum = (i64)(int)c[j] + (int)s->row[j];
        c[j] = !p->saturate ? (u32)sum : sum > 0x7fffffff ? 0x7fffffff : sum < -0x80000000ll ? 0x80000000u : (u32)sum;
    }
}

// The 16 rows of D that a warp holds, between its registers and a matrix.
__device__ __noinline__ void collect_rows(const WideProduct* p, u64 registers, u32* c) {
    const u32 pairs = p->half ? 1 : 2;
#pragma unroll 1
    for (u32 i = 0; i < p->registers; i += pairs) {
        u32* to = c + i / pairs % 2 * 8 * p->n + i / pairs / 2 * 8;
        if (p->half) halves_by_rows(registers + p->d[i], to, p->n);
        else pairs_by_rows(registers + p->d[i], registers + p->d[i + 1], to, p->n);
    }
}

__device__ __noinline__ void distribute_rows(const WideProduct* p, u64 registers, const u32* c) {
    const u32 pairs = p->half ? 1 : 2;
#pragma unroll 1
    for (u32 i = 0; i < p->registers; i += pairs) {
        const u32* from = c + i / pairs % 2 * 8 * p->n + i / pairs / 2 * 8;
        if (p->half) store_halves(registers + p->d[i], from, p->n);
        else store_pairs(registers + p->d[i], registers + p->d[i + 1], from, p->n);
    }
}

// A warp's 16 rows of A from its registers, as words of 32 bits: four registers of eight rows and four words.
__device__ __noinline__ void collect_a(const Warp* w, const WideProduct* p, u32* words) {
#pragma unroll 1
    for (u32 r = 0; r < 4; ++r) words_by_rows(w->registers + p->a[r], words + r % 2 * 8 * 8 + r / 2 * 4, 8);
}
