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

// Between a register and an address on the host.
__device__ __forceinline__ void move_bytes(u32 store, u64 reg, u32 bytes, u64 host) {
    store ? store_bytes(host, bytes, load_bytes(reg, bytes, 0)) : store_bytes(reg, bytes, load_bytes(host, bytes, 0));
}

// `n` neighbours of each lane, from element `first` on, between the register file and host[lane].
__device__ __noinline__ void move_lanes(Warp* w, const Tile* t, u32 store, u32 first, u32 n, const u64* host) {
    const u32 step = t->register_bytes, size = t->element, whole = n > 1 && n == t->per_register;
    const u32 moves = whole ? 1 : n, bytes = whole ? n * size : size;
#pragma unroll 1
    for (u32 c = 0; c < (store ? 1 : t->copies); ++c) {
        u64 reg[4];
#pragma unroll 1
        for (u32 h = 0; h < moves; ++h) reg[h] = element_at(w, t->slot + c * t->distinct, first + h, t->per_register, step, size, 0);
        if (moves == 1 && bytes == 4)
#pragma unroll 4
            for (u32 l = 0; l < LANES; ++l) move_bytes(store, reg[0] + l * step, 4, host[l]);
        else if (moves == 1 && bytes == 2)
#pragma unroll 4
            for (u32 l = 0; l < LANES; ++l) move_bytes(store, reg[0] + l * step, 2, host[l]);
        else
#pragma unroll 1
            for (u32 l = 0; l < LANES; ++l)
#pragma unroll 1
                for (u32 h = 0; h < moves; ++h) move_bytes(store, reg[h] + l * step, bytes, host[l] + h * size);
    }
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
    for (u32 i = 0; i < matrices; ++i) {
        const u32 per = t->per_register, n = t->transposed ? 1 : per;   // in a row, the elements of a register are neighbours
#pragma unroll 1
        for (u32 h = 0; h < per; h += n) {
            u64 from[LANES];
#pragma unroll 1
            for (u32 l = 0; l < LANES; ++l) {
                const u32 along = (l & 3) * per + h, row = t->transposed ? along : l >> 2, column = t->transposed ? l >> 2 : along;
                from[l] = host[8 * i + row] + column * t->element;
            }
            move_lanes(w, t, a->kind == STORE, (first + i) * per + h, n, from);
        }
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
        for (u32 h = 0; h < 2; ++h) {
            u64 from[LANES];
#pragma unroll 1
            for (u32 l = 0; l < LANES; ++l) from[l] = host[4 * (l % 4 * 2 + h) + l / 8] + l / 4 % 2 * 2;
            move_lanes(w, t, a->kind == STORE, 2 * r + h, 1, from);
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
        move_lanes(w, t, a->kind == STORE, first, t->neighbours, host);
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
        space = space_for(w, address[0]);
#pragma unroll 1
        for (u32 l = 0; l < LANES; ++l) address[l] -= window_of(w, space);
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
