// tensor.cuh -- instructions of a whole warp on small matrices (fragments.py says which lane holds what)

enum TileKind { BLOCKED, LDMATRIX, STMATRIX, MOVMATRIX };
enum TileMode { VECTORS, TRANSPOSED, SINGLES, ROWS };   // how the assembler splits the access, see tensor.py

// All 32 lanes must take part.
__device__ __forceinline__ u32 whole_warp(Warp* w, u32 number) {
    return w->mask == FULL ? 0 : fault(w, PARTIAL_WARP, number, lowest(~w->mask), 0);
}

// Where element e of a lane lies in the register file.
__device__ __forceinline__ u64 element_at(const Warp* w, const u32* slot, u32 e, u32 per, u32 register_bytes, u32 bytes, u32 lane) {
    return w->registers + slot[e / per] + lane * register_bytes + e % per * bytes;
}

__device__ __noinline__ void move_element(Warp* w, const Tile* t, u32 store, u32 e, u32 lane, u64 host) {
    if (store) return store_bytes(host, t->element, load_bytes(element_at(w, t->slot, e, t->per_register, t->register_bytes, t->element, lane), t->element, 0));
    const u64 value = load_bytes(host, t->element, 0);
#pragma unroll 1
    for (u32 c = 0; c < t->copies; ++c)
        store_bytes(element_at(w, t->slot + c * t->distinct, e, t->per_register, t->register_bytes, t->element, lane), t->element, value);
}

// One instruction of the assembler's code, for which `lanes` give addresses: find the bytes, count, look for hazards.
__device__ __noinline__ u32 one_access(Warp* w, const Access* a, u32 space, u32 lanes, u64* address, u64* host) {
    w->mask = lanes;
    const u32 failed = resolve(w, a, space, address, host);
    if (w->traced && !failed) record(w, a->number, 0, address);
    w->mask = FULL;
    if (failed) return 1;
    count((Worker*)w->worker, a, space, lanes, address);
    if (space == SHARED && ((const Launch*)w->launch)->racecheck)
#pragma unroll 1
        for (u32 left = lanes; left; left &= left - 1)
            touch(w, a->number, a->kind == STORE, lowest(left), address[lowest(left)], a->width);
    return 0;
}

// Up to four 8x8 matrices whose rows of 16 bytes start at address[8 * i + row]; registers from `first` on.
__device__ __noinline__ u32 move_rows(Warp* w, const Access* a, const Tile* t, u32 space, u32 first, u32 matrices, u64* address) {
    u64 host[LANES];
    const u32 lanes = matrices == 4 ? FULL : (1u << 8 * matrices) - 1;
    if (one_access(w, a, space, lanes, address, host)) return 1;
#pragma unroll 1
    for (u32 i = 0; i < matrices * t->per_register; ++i)
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) {
            const u32 e = first * t->per_register + i, h = e % t->per_register, along = (l & 3) * t->per_register + h;
            const u32 row = t->transposed ? along : l >> 2, column = t->transposed ? l >> 2 : along;
            move_element(w, t, a->kind == STORE, e, l, host[8 * (i / t->per_register) + row] + column * t->element);
        }
    return 0;
}

// Address of an element of the matrix.
__device__ __forceinline__ u64 at(const Tile* t, u64 base, u64 stride, u32 row, u32 column) {
    return base + (t->row_major ? row * stride + column : column * stride + row) * t->element;
}

__device__ __noinline__ u32 blocks_by_rows(Warp* w, const Access* a, const Tile* t, const Map* m, u32 space, u64 base, u64 stride) {
    u64 address[LANES];
    const u32 most = t->element == 1 && t->distinct == 4 ? 2 : 4;   // ptxas takes LDSM.x2 twice for bytes
#pragma unroll 1
    for (u32 first = 0; first < t->distinct; first += most) {
        const u32 matrices = t->distinct - first < most ? t->distinct - first : most;
#pragma unroll 1
        for (u32 i = 0; i < 8 * matrices; ++i) {
            const u32 corner = (first + i / 8) * t->per_register, row = m->row[corner], column = m->column[corner];
            address[i] = t->row_major ? at(t, base, stride, row + i % 8, column) : at(t, base, stride, row, column + i % 8);
        }
        if (move_rows(w, a, t, space, first, matrices, address)) return 1;
    }
    return 0;
}

// 16-bit elements whose neighbours in a lane are no neighbours in memory: 32 bits as they lie, exchanged between lanes afterwards.
__device__ __noinline__ u32 transposed_pairs(Warp* w, const Access* a, const Tile* t, const Map* m, u32 space, u64 base, u64 stride) {
    u64 address[LANES], host[LANES];
#pragma unroll 1
    for (u32 r = 0; r < t->distinct; ++r) {
        const u32 row = m->row[2 * r], column = m->column[2 * r];
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l)
            address[l] = t->row_major ? at(t, base, stride, row + l / 4, column + l % 4 * 2) : at(t, base, stride, row + l % 4 * 2, column + l / 4);
        if (one_access(w, a, space, FULL, address, host)) return 1;
#pragma unroll 1
        for (u32 i = 0; i < 2 * LANES; ++i) {
            const u32 l = i / 2, major = l % 4 * 2 + i % 2, minor = l / 4;
            move_element(w, t, a->kind == STORE, 2 * r + i % 2, l, host[4 * major + minor / 2] + minor % 2 * 2);
        }
    }
    return 0;
}

__device__ __noinline__ u32 elements(Warp* w, const Access* a, const Tile* t, const Map* m, u32 space, u64 base, u64 stride) {
    u64 address[LANES], host[LANES];
    if (t->mode == ROWS) return blocks_by_rows(w, a, t, m, space, base, stride);
    if (t->mode == TRANSPOSED) return transposed_pairs(w, a, t, m, space, base, stride);
#pragma unroll 1
    for (u32 first = 0; first < m->count; first += t->neighbours) {
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] = at(t, base, stride, m->row[16 * l + first], m->column[16 * l + first]);
        if (one_access(w, a, space, FULL, address, host)) return 1;
#pragma unroll 1
        for (u32 i = 0; i < LANES * t->neighbours; ++i) {
            const u32 l = i / t->neighbours, h = i % t->neighbours;
            move_element(w, t, a->kind == STORE, first + h, l, host[l] + h * t->element);
        }
    }
    return 0;
}

__device__ __noinline__ void transpose(Warp* w, const Tile* t) {
    u16 matrix[64];
    const u16* from = (const u16*)(w->registers + t->slot[1]);
    u16* to = (u16*)(w->registers + t->slot[0]);
#pragma unroll 1
    for (u32 i = 0; i < 64; ++i) matrix[i % 8 * 8 + i / 8] = from[i];
#pragma unroll 1
    for (u32 i = 0; i < 64; ++i) to[i] = matrix[i];
}

// wmma.load, wmma.store, ldmatrix, stmatrix, movmatrix. Returns 1 after a fault.
extern "C" __device__ u32 access_tile(Warp* w, const Access* a, const Tile* t, const Map* m) {
    u64 address[LANES];
    if (!w->mask) return 0;
    if (whole_warp(w, t->number)) return 1;
    if (t->kind == MOVMATRIX) {
        transpose(w, t);
        return 0;
    }
    addresses(w, a, address);
    u32 space = a->space;
    if (space == GENERIC) {
        space = space_of(address[0]);
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] -= window_of((const Launch*)w->launch, space);
    }
    if (t->kind != BLOCKED && space != SHARED) return fault(w, OUT_OF_BOUNDS, t->number, 0, address[0]);
    if (t->kind != BLOCKED) return move_rows(w, a, t, space, 0, t->distinct, address);
    const u64 stride = t->stride == ~0u ? t->default_stride : (u32)read_slot(w, t->stride, 4, 0);
#pragma unroll 1
    for (u32 l = 1; l < LANES; ++l)
        if (address[l] != address[0] || (t->stride != ~0u && (u32)read_slot(w, t->stride, 4, l) != stride))
            return fault(w, LANES_DIFFER, t->number, l, address[l]);
    if (stride * t->element & (t->aligned - 1)) return fault(w, STRIDE, t->number, 0, stride);
    if (address[0] & (t->aligned - 1)) return fault(w, MISALIGNED, t->number, 0, address[0]);
    return elements(w, a, t, m, space, address[0], stride);
}

// -- D = A * B + C ------------------------------------------------------------------------------------
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
        c = fused_sum(a + k, b + k, &start, p->split < p->k ? p->split : p->k, 2 * fraction_of(p->kind), half ? 10 : 23, half);
    }
    return p->d_half && !p->c_half ? float_to_half(c) : c;
}

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

// Double precision: a chain of fused multiply-adds in the order of k.
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
    if (p->kind == DOUBLE) multiply_doubles(w, p, ma, mb, mc);
    else if (p->kind == INTEGER) multiply_integers(w, p, ma, mb, mc);
    else multiply_floats(w, p, ma, mb, mc);
    return 0;
}
