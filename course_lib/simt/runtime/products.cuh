// products.cuh -- D = A * B + C of a warp's matrices: mma, wmma.mma

__device__ __forceinline__ u32 fraction_of(u32 kind) { return kind == BFLOAT ? 7 : 10; }

// Unpack the factors: matrix[i * depth + k], i a row of A or a column of B.
__device__ __noinline__ void gather(const Warp* w, const Map* m, const u32* slot, u32 kind, u32 swapped, Part* matrix) {
    const u32 per = kind == TF32 ? 1 : 2, bytes = 4 / per;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l)
#pragma unroll 1
        for (u32 e = 0; e < m->count; ++e) {
            const u32 row = m->row[16 * l + e], column = m->column[16 * l + e];
            const u32 bits = load_bytes(element_at(w, slot, e, per, 4, bytes, l), bytes, 0);
            Part* p = &matrix[swapped ? column * 16 + row : row * 16 + column];
            if (kind == TF32) unpack(p, bits >> 13, 10, 19);
            else unpack(p, bits, fraction_of(kind), 16);
        }
}

// D at last: its registers may be among those of A, B and C.
__device__ __noinline__ void scatter(Warp* w, const u32* slot, u32 count, u32 bytes, const u64* d) {
    const u32 size = bytes < 4 ? 4 : bytes;
#pragma unroll 1
    for (u32 i = 0; i < LANES * count; ++i)
        store_bytes(element_at(w, slot, i % count, size / bytes, size, bytes, i / count), bytes, d[i]);
}

__device__ __noinline__ u32 dot(const Product* p, const Part* a, const Part* b, u32 c) {
    const u32 half = p->c_half && p->d_half;   // half precision inside, too
    Part start;
    if (p->c_half && !p->d_half) c = half_to_float(c);
#pragma unroll 1
    for (u32 k = 0; k < p->k; k += p->split) {
        unpack(&start, c, half ? 10 : 23, half ? 16 : 32);
        c = fused_sum(a + k, b + k, &start, p->split < p->k ? p->split : p->k, 2 * fraction_of(p->kind), half ? 10 : 23, half, GUARD);
    }
    return p->d_half && !p->c_half ? float_to_half(c) : c;
}

// codegen/fused.py has these: numbers as significands, which are floats, and exponents; and eight sums of a row of A. All return 0 unless
// some number that they read, of C in the sums, is infinite or none.
extern "C" __device__ u32 unpack_parts(const u32* raw, int* significands, int* exponents, u32 count, u32 fraction, u32 width);
extern "C" __device__ u32 sums_of_floats(const int* as, const int* ae, const int* bs, const int* be, const u32* c, u32* d, int* top, u32 depth,
                                          u32 stride, u32 shift);
extern "C" __device__ u32 sums_of_halves(const int* as, const int* ae, const int* bs, const int* be, const u32* c, i64* d, int* top, u32 depth,
                                          u32 stride, u32 shift);

// codegen/tiles.py has these: one register of all lanes, or two, as a block of the matrix, and back.
extern "C" __device__ void halves_by_rows(u64 from, u32* to, u32 stride);
extern "C" __device__ void halves_by_columns(u64 from, u32* to, u32 stride);
extern "C" __device__ void words_by_rows(u64 from, u32* to, u32 stride);
extern "C" __device__ void words_by_columns(u64 from, u32* to, u32 stride);
extern "C" __device__ void pairs_by_rows(u64 from, u64 more, u32* to, u32 stride);
extern "C" __device__ void store_halves(u64 to, const u32* from, u32 stride);
extern "C" __device__ void store_pairs(u64 to, u64 more, const u32* from, u32 stride);

enum Packing { SINGLE_WORDS = 1, HALF_WORDS = 2, WORD_PAIRS = 3 };   // elements in a register: one, two neighbours, or one whose neighbour is in the next

// Does the register of element e hold columns where others hold rows? Lane 4 has what stands below lane 0's element, or beside it.
__device__ __forceinline__ u32 by_columns(const Map* m, u32 e) { return m->row[16 * 4 + e] == m->row[e]; }

// The elements of all lanes, as a matrix with `stride` elements between rows.
__device__ __noinline__ void collect(const Warp* w, const Map* m, const u32* slot, u32 packing, u32 stride, u32* matrix) {
    const u32 step = packing == SINGLE_WORDS ? 1 : 2;
#pragma unroll 1
    for (u32 e = 0; e < m->count; e += step) {
        u32* to = matrix + m->row[e] * stride + m->column[e];
        const u64 from = w->registers + slot[packing == HALF_WORDS ? e / 2 : e], columns = by_columns(m, e);
        if (packing == HALF_WORDS) columns ? halves_by_columns(from, to, stride) : halves_by_rows(from, to, stride);
        else if (packing == SINGLE_WORDS) columns ? words_by_columns(from, to, stride) : words_by_rows(from, to, stride);
        else if (!columns) pairs_by_rows(from, w->registers + slot[e + 1], to, stride);
        else
#pragma unroll 1
            for (u32 h = 0; h < 2; ++h)
                words_by_columns(w->registers + slot[e + h], to + h * stride, 2 * stride);
    }
}

__device__ __noinline__ void distribute(Warp* w, const Map* m, const u32* slot, u32 packing, u32 stride, const u32* matrix) {
#pragma unroll 1
    for (u32 e = 0; e < m->count; e += 2) {
        const u32* from = matrix + m->row[e] * stride + m->column[e];
        const u64 to = w->registers + slot[packing == HALF_WORDS ? e / 2 : e];
        if (!by_columns(m, e)) {
            packing == HALF_WORDS ? store_halves(to, from, stride) : store_pairs(to, w->registers + slot[e + 1], from, stride);
            continue;
        }
#pragma unroll 1
        for (u32 i = 0; i < 64; ++i) {
            const u32 l = i / 2, h = i % 2, value = from[(l % 4 * 2 + h) * stride + l / 4];
            if (packing == HALF_WORDS) *(u16*)(to + 2 * i) = value;
            else *(u32*)(w->registers + slot[e + h] + 4 * l) = value;
        }
    }
}

// One row of D, eight columns at a time, from `c` into `c`. Returns 1 when a number of it is infinite, or none, before the last step.
__device__ __noinline__ u32 multiply_row(const Product* p, const int* as, const int* ae, const int* bs, const int* be, u32* c) {
    const u32 shift = GUARD - 2 * fraction_of(p->kind), half = p->c_half && p->d_half, n = p->n;
    i64 sum[8];
    int top[8];
#pragma unroll 1
    for (u32 j = 0; j < n; j += 8)
#pragma unroll 1
        for (u32 k = 0; k < p->k; k += p->split) {
            const u32 depth = p->split < p->k - k ? p->split : p->k - k;
            if (!half) {
                if (sums_of_floats(as + k, ae + k, bs + k * n + j, be + k * n + j, c + j, c + j, top, depth, n, shift)) return 1;
                continue;
            }
            if (sums_of_halves(as + k, ae + k, bs + k * n + j, be + k * n + j, c + j, sum, top, depth, n, shift)) return 1;
#pragma unroll 1
            for (u32 i = 0; i < 8; ++i) c[j + i] = to_half(sum[i], top[i] - GUARD);
        }
    return 0;
}

// Products of finite numbers. Returns 0 when there is another one: then nothing was written.
__device__ __noinline__ u32 multiply_finite(Warp* w, const Product* p, const Map* ma, const Map* mb, const Map* mc) {
    u32 raw[32 * 16], c[LANES * 8];
    int as[32 * 16], ae[32 * 16], bs[32 * 16], be[32 * 16];
    const u32 packing = p->kind == TF32 ? SINGLE_WORDS : HALF_WORDS, elements = LANES * mc->count;
    collect(w, ma, p->a, packing, p->k, raw);
    if (p->kind == TF32)
#pragma unroll 1
        for (u32 i = 0; i < p->m * p->k; ++i) raw[i] >>= 13;
    if (unpack_parts(raw, as, ae, p->m * p->k, fraction_of(p->kind), p->kind == TF32 ? 19 : 16)) return 0;
    collect(w, mb, p->b, packing, p->n, raw);
    if (p->kind == TF32)
#pragma unroll 1
        for (u32 i = 0; i < p->k * p->n; ++i) raw[i] >>= 13;
    if (unpack_parts(raw, bs, be, p->k * p->n, fraction_of(p->kind), p->kind == TF32 ? 19 : 16)) return 0;
    collect(w, mc, p->c, p->c_half ? HALF_WORDS : WORD_PAIRS, p->n, c);
    if (p->c_half && !p->d_half)
#pragma unroll 1
        for (u32 i = 0; i < elements; ++i) c[i] = half_to_float(c[i]);
#pragma unroll 1
    for (u32 i = 0; i < p->m; ++i)
        if (multiply_row(p, as + i * p->k, ae + i * p->k, bs, be, c + i * p->n)) return 0;
    if (p->d_half && !p->c_half)
#pragma unroll 1
        for (u32 i = 0; i < elements; ++i) c[i] = float_to_half(c[i]);
    distribute(w, mc, p->d, p->d_half ? HALF_WORDS : WORD_PAIRS, p->n, c);
    return 1;
}

// The same where some number may be infinite or none.
__device__ __noinline__ void multiply_floats(Warp* w, const Product* p, const Map* ma, const Map* mb, const Map* mc) {
    Part a[32 * 16], b[32 * 16];
    u64 d[LANES * 8];
    gather(w, ma, p->a, p->kind, 0, a);
    gather(w, mb, p->b, p->kind, 1, b);
#pragma unroll 1
    for (u32 i = 0; i < LANES * mc->count; ++i) {
        const u32 l = i / mc->count, e = i % mc->count, bytes = p->c_half ? 2 : 4;
        const u32 c = load_bytes(element_at(w, p->c, e, p->c_half ? 2 : 1, 4, bytes, l), bytes, 0);
        d[i] = dot(p, a + 16 * mc->row[16 * l + e], b + 16 * mc->column[16 * l + e], c);
    }
    scatter(w, p->d, mc->count, p->d_half ? 2 : 4, d);
}

// codegen/tiles.py has it: 8 x 8 elements of D = A * B + C, from and to the registers of all lanes.
extern "C" __device__ void double_tile(const double* a, const double* b, const double* c0, const double* c1, double* d0, double* d1);

// Double precision: a chain of fused multiply-adds in the order of k. A and B come in blocks of four k; B has 8 columns.
__device__ __noinline__ void multiply_tiles(Warp* w, const Product* p, const Map* ma) {
#pragma unroll 1
    for (u32 c = 0; c < p->c_registers; c += 2) {
        const u32* from = p->c + c;
#pragma unroll 1
        for (u32 k = 0; k < p->k; k += 4) {
            u32 a = 0;
#pragma unroll 1
            while (ma->row[a] != 4 * c || ma->column[a] != k) ++a;
            double_tile((const double*)(w->registers + p->a[a]), (const double*)(w->registers + p->b[k / 4]),
                        (const double*)(w->registers + from[0]), (const double*)(w->registers + from[1]),
                        (double*)(w->registers + p->d[c]), (double*)(w->registers + p->d[c + 1]));
            from = p->d + c;
        }
    }
}

// The same where D's registers are among those of A or B.
__device__ __noinline__ void multiply_doubles(Warp* w, const Product* p, const Map* ma, const Map* mb, const Map* mc) {
    double a[16 * 16], b[16 * 16];
    u64 d[LANES * 8];
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) {
#pragma unroll 1
        for (u32 e = 0; e < ma->count; ++e)
            a[16 * ma->row[16 * l + e] + ma->column[16 * l + e]] = *(const double*)element_at(w, p->a, e, 1, 8, 8, l);
#pragma unroll 1
        for (u32 e = 0; e < mb->count; ++e)
            b[16 * mb->column[16 * l + e] + mb->row[16 * l + e]] = *(const double*)element_at(w, p->b, e, 1, 8, 8, l);
    }
#pragma unroll 1
    for (u32 i = 0; i < LANES * mc->count; ++i) {
        const u32 l = i / mc->count, e = i % mc->count;
        const double *x = a + 16 * mc->row[16 * l + e], *y = b + 16 * mc->column[16 * l + e];
        double sum = *(const double*)element_at(w, p->c, e, 1, 8, 8, l);
#pragma unroll 1
        for (u32 k = 0; k < p->k; ++k) sum = __fma_rn(x[k], y[k], sum);
        d[i] = __double_as_longlong(sum);
    }
    scatter(w, p->d, mc->count, 8, d);
}

__device__ __noinline__ void multiply_integers(Warp* w, const Product* p, const Map* ma, const Map* mb, const Map* mc) {
    int a[32 * 32], b[32 * 32];
    u64 d[LANES * 8];
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) {
#pragma unroll 1
        for (u32 e = 0; e < ma->count; ++e)
            a[32 * ma->row[16 * l + e] + ma->column[16 * l + e]] = (int)load_bytes(element_at(w, p->a, e, 4, 4, 1, l), 1, p->signed_a);
#pragma unroll 1
        for (u32 e = 0; e < mb->count; ++e)
            b[32 * mb->column[16 * l + e] + mb->row[16 * l + e]] = (int)load_bytes(element_at(w, p->b, e, 4, 4, 1, l), 1, p->signed_b);
    }
#pragma unroll 1
    for (u32 i = 0; i < LANES * mc->count; ++i) {
        const u32 l = i / mc->count, e = i % mc->count;
        const int *x = a + 32 * mc->row[16 * l + e], *y = b + 32 * mc->column[16 * l + e];
        i64 sum = *(const int*)element_at(w, p->c, e, 1, 4, 4, l);
#pragma unroll 1
        for (u32 k = 0; k < p->k; ++k) sum += x[k] * y[k];
        if (p->saturate) sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x80000000ll ? -0x80000000ll : sum;
        d[i] = (u32)sum;
    }
    scatter(w, p->d, mc->count, 4, d);
}

// mma and wmma.mma. Returns 1 after a fault.
extern "C" __device__ u32 multiply(Warp* w, const Product* p, const Map* ma, const Map* mb, const Map* mc) {
    if (!w->mask) return 0;
    if (whole_warp(w, p->number)) return 1;
    if (p->kind == DOUBLE && p->apart) multiply_tiles(w, p, ma);
    else if (p->kind == DOUBLE) multiply_doubles(w, p, ma, mb, mc);
    else if (p->kind == INTEGER) multiply_integers(w, p, ma, mb, mc);
    else if (!multiply_finite(w, p, ma, mb, mc)) multiply_floats(w, p, ma, mb, mc);
    return 0;
}
