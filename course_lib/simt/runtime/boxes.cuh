// boxes.cuh -- cp.async.bulk.tensor: boxes of a tensor, which a tensor map describes

// Rows of a box lie in shared memory side by side, the innermost axis along a row; what lies outside of the tensor is filled in there, and
// left out in global memory. A swizzle exchanges the pieces of 16 bytes in each 128 bytes by bits 7 to 9 of their address in the window, as
// descriptors.cuh reads them: a box that begins at no multiple of the pattern's length (256, 512, 1024 bytes) begins inside the pattern.
// A row narrower than the swizzle takes the swizzle's whole width, and the rest of it is neither read nor written. A box begins in its row
// at a multiple of 16 bytes, and in a store at no negative coordinate: otherwise the instruction is illegal. All this is what an H200 does
// (tests/hardware/test_tensor_boxes.py). The map is read when the instruction is executed; racecheck does not look for fences of the
// tensormap proxy.

enum { PIECE_BYTES = 16 };

__device__ __forceinline__ u32 rows_of(const Box* b) { return b->size[1] * b->size[2] * b->size[3] * b->size[4]; }

__device__ __forceinline__ u32 row_bytes(const Box* b) { return b->size[0] * b->bytes; }

__device__ __noinline__ u32 map_misused(Warp* w, const BoxCopy* c, u32 lane, u32 why, u32 value) {
    return fault(w, MAP_MISUSE, c->number, lane, (u64)why << 32 | value);
}

// What a map holds, in words of 32 bits (tensor_maps.py): the address, flags, strides in units of 16 bytes, extents and sizes less one.
// Bits 7 to 10 of the flags say what the elements are.
enum MapKind { MAP_U8, MAP_U16, MAP_U32, MAP_S32, MAP_U64, MAP_S64, MAP_F16, MAP_F32, MAP_FLUSHED, MAP_F64, MAP_BF16 };

__device__ __forceinline__ u32 bytes_of_kind(u32 kind) {
    if (kind == MAP_U16 || kind == MAP_F16 || kind == MAP_BF16) return 2;
    return kind == MAP_U8 ? 1 : kind == MAP_U64 || kind == MAP_S64 || kind == MAP_F64 ? 8 : 4;
}

__device__ __forceinline__ u32 number_of_kind(u32 kind) {
    if (kind == MAP_F16) return HALVES;
    if (kind == MAP_BF16) return BRAINS;
    return kind == MAP_F32 || kind == MAP_F64 ? FLOAT : kind == MAP_S32 || kind == MAP_S64 ? SIGNED : UNSIGNED;
}

// Is there a cp.reduce.async.bulk.tensor with this operation for elements of this kind?
__device__ __noinline__ u32 reduces(u32 change, u32 kind) {
    const u32 whole = kind >= MAP_U32 && kind <= MAP_S64, half = kind == MAP_F16 || kind == MAP_BF16;
    switch (change) {
    case ADD: return whole && kind != MAP_S64 || half || kind == MAP_F32;
    case MIN:
    case MAX: return whole || half;
    case INCREMENT:
    case DECREMENT: return kind == MAP_U32;
    default: return whole;
    }
}

// The sizes of a map's box, and the tensor's. Returns the bytes of the box, or 0 where some number cannot be.
__device__ __noinline__ u32 read_axes(const u32* m, u32 rank, Box* b) {
    u64 total = b->bytes;
#pragma unroll 1
    for (u32 i = 0; i < MOST_AXES; ++i) {
        const u32 there = i < rank, size = there ? (i ? m[14] >> 8 * (i - 1) & 255 : m[13] >> 24) + 1 : 1;
        b->step[i] = there ? (m[13] >> 3 * i & 7) + 1 : 1;
        if (size % b->step[i]) return 0;
        b->size[i] = size / b->step[i];
        b->extent[i] = there ? (u64)m[8 + i] + 1 : 1;
        b->stride[i] = !i ? b->bytes : there ? ((u64)(m[7] >> 4 * (i - 1) & 15) << 32 | m[2 + i]) << 4 : 0;
        total *= b->size[i];
    }
    return b->step[0] != 1 || row_bytes(b) & 15 || total >> 31 ? 0 : total;
}

// Read the map at a generic address. Returns 1 after a fault.
__device__ __noinline__ u32 open_map(Warp* w, const BoxCopy* c, u32 lane, u64 at, Box* b) {
    u64 left = 0;
    const u32 space = space_of(at);
    if (space == SHARED || space == LOCAL) return map_misused(w, c, lane, COPIED_MAP, 0);
    const u32* m = (const u32*)host_of(w, lane, at, &left);
    if (left < MAP_BYTES) return map_misused(w, c, lane, NO_PLACE, 0);
    if (at & MAP_ALIGNMENT - 1) return map_misused(w, c, lane, LOOSE_MAP, 0);
    const u32 flags = m[2], kind = flags >> 7 & 15, rank = (flags >> 4 & 7) + 1, swizzle = flags >> 13 & 3;
    if (kind > MAP_BF16 || rank > MOST_AXES || flags & 0xfff8180f) return map_misused(w, c, lane, NO_MAP, 0);
    if (rank != c->rank) return map_misused(w, c, lane, OTHER_RANK, rank);
    if (kind == MAP_FLUSHED || flags >> 16 & 1) return map_misused(w, c, lane, OTHER_NUMBERS, 0);
    if (c->change && !reduces(c->change - 1, kind)) return map_misused(w, c, lane, NO_REDUCTION, 0);
    b->base = (u64)m[1] << 32 | m[0];
    b->bytes = bytes_of_kind(kind);
    b->number = number_of_kind(kind);
    b->together = 1u << swizzle;
    b->nan = flags >> 15 & 1;
    const u32 total = read_axes(m, rank, b);
    if (!total || total != m[16] || m[18] != (swizzle ? 128u << swizzle : 16u)) return map_misused(w, c, lane, NO_MAP, 0);
    if (swizzle && row_bytes(b) > PIECE_BYTES << swizzle) return map_misused(w, c, lane, NO_MAP, 0);
    b->pitch = swizzle ? PIECE_BYTES << swizzle : row_bytes(b);
    b->gaps = rows_of(b) * (b->pitch - row_bytes(b));
    return 0;
}

// How far behind element 0 the line of the tensor begins that a row of the box lies in, or ~0: outside.
__device__ __noinline__ u64 line_of(const Box* b, u32 row) {
    u64 offset = 0;
#pragma unroll 1
    for (u32 i = 1; i < MOST_AXES; ++i) {
        const i64 x = b->at[i] + (i64)(row % b->size[i]) * b->step[i];
        row /= b->size[i];
        if (x < 0 || x >= (i64)b->extent[i]) return ~0ull;
        offset += x * b->stride[i];
    }
    return offset;
}

// The host's address of a byte of a box that lies in shared memory from `at` on.
__device__ __forceinline__ u64 swizzled(const Worker* k, const Box* b, u64 at, u32 byte) {
    const u64 begin = ((const Launch*)k->launch)->shared_begin, window = begin + at + byte;
    return (window ^ (window >> 7 & (b->together - 1)) << 4) - begin;
}

__device__ __forceinline__ u32 column_inside(const Box* b, i64 x) { return x >= 0 && x < (i64)b->extent[0]; }

// 16 bytes of a row, from column `x` of the tensor on; line: the host's address of its line, 0 outside of the tensor.
__device__ __noinline__ void load_piece(const Box* b, u64 to, u64 line, i64 x) {
    const u64 from = line + x * b->bytes;
    const i64 last = x + 16 / b->bytes - 1;
    const u64 fill = b->nan ? 0x7ff77ff77ff77ff7 : 0;     // one NaN for every width
    if (line && column_inside(b, x) && column_inside(b, last) && !(from & 7)) {
        *(u64*)to = *(const u64*)from;
        *(u64*)(to + 8) = *(const u64*)(from + 8);
        return;
    }
#pragma unroll 1
    for (u32 i = 0; i < 16; i += b->bytes, ++x)
        store_bytes(to + i, b->bytes, line && column_inside(b, x) ? load_bytes(from + i, b->bytes, 0) : fill);
}

__device__ __noinline__ void store_piece(const Box* b, const Flight* f, u64 from, u64 line, i64 x, u64 poison) {
    const u64 to = line + x * b->bytes;
#pragma unroll 1
    for (u32 i = 0; i < 16; i += b->bytes, ++x) {
        if (!column_inside(b, x)) continue;
        u64 value = from ? load_bytes(from + i, b->bytes, 0) : poison >> 8 * (i & 7);
        if (from && f->change) value = changed(f->change - 1, f->element, f->width, SHARED, load_bytes(to + i, b->bytes, 0), value, 0);
        store_bytes(to + i, b->bytes, value);
    }
}

// The bytes between a box's rows in shared memory, which its mbarrier does not count.
__device__ __noinline__ u32 gaps_of(Worker* k, const Flight* f) { return box_of(async_of(k), f)->gaps; }

// All bytes of a box come to shared memory.
__device__ void load_box(Worker* k, const Flight* f) {
    const Box* b = box_of(async_of(k), f);
    const u32 rows = rows_of(b), wide = row_bytes(b);
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row) {
        const u64 line = line_of(b, row);
#pragma unroll 1
        for (u32 byte = 0; byte < wide; byte += 16)
            load_piece(b, k->shared + swizzled(k, b, f->at, row * b->pitch + byte), line == ~0ull ? 0 : b->host + line,
                       b->at[0] + byte / b->bytes);
    }
}

// What was read of shared memory goes to the tensor, or poison when nobody waited until it was read.
__device__ void store_box(Worker* k, const Flight* f) {
    const Box* b = box_of(async_of(k), f);
    const u32 rows = rows_of(b), wide = row_bytes(b);
    const u64 poison = ((const Launch*)k->launch)->poison;
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row) {
        const u64 line = line_of(b, row);
        if (line == ~0ull) continue;
#pragma unroll 1
        for (u32 byte = 0; byte < wide; byte += 16)
            store_piece(b, f, f->data ? f->data + (swizzled(k, b, f->at, row * b->pitch + byte) - f->at) : 0, b->host + line,
                        b->at[0] + byte / b->bytes, poison);
    }
}

// The first and the last element of a box along an axis that lie in the tensor; 0 when none does.
__device__ __noinline__ u32 range_of(const Box* b, u32 axis, i64* first, i64* last) {
    const i64 step = b->step[axis], room = (i64)b->extent[axis] - 1 - b->at[axis];
    const i64 low = b->at[axis] < 0 ? (step - 1 - b->at[axis]) / step : 0, high = room < 0 ? -1 : min(room / step, (i64)b->size[axis] - 1);
    *first = b->at[axis] + low * step;
    *last = b->at[axis] + high * step;
    return low <= high;
}

// Find the memory of those elements of a box that lie in the tensor. Returns 1 after a fault.
__device__ __noinline__ u32 find_tensor(Warp* w, const BoxCopy* c, u32 lane, Box* b) {
    u64 low = b->base, end = b->base + b->bytes;
    b->host = 0;
#pragma unroll 1
    for (u32 i = 0; i < MOST_AXES; ++i) {
        i64 first, last;
        if (!range_of(b, i, &first, &last)) return 0;       // none: nothing is touched
        low += first * b->stride[i];
        end += last * b->stride[i];
    }
    const Array* array = find((const Launch*)w->launch, low, b->bytes);
    if (!array) return fault(w, OUT_OF_BOUNDS, c->number, lane, low);
    if (end > array->hi) return fault(w, OUT_OF_BOUNDS, c->number, lane, array->hi);
    if (c->kind == INTO_GLOBAL && !array->writable) return fault(w, READ_ONLY, c->number, lane, low);
    b->host = array->host + (b->base - array->lo);
    return 0;
}

// The box of a copy to global memory that leaves out some of it, at an edge of the tensor or between narrow rows; or 0.
__device__ __noinline__ const Box* edge_of(const Worker* k, const Flight* f) {
    if (!f->boxed || f->kind != INTO_GLOBAL) return 0;
    const Box* b = box_of(async_of(k), f);
    if (b->gaps) return b;
#pragma unroll 1
    for (u32 i = 0; i < MOST_AXES; ++i) {
        i64 first, last;
        if (!range_of(b, i, &first, &last) || last - first < (i64)(b->size[i] - 1) * b->step[i]) return b;
    }
    return 0;
}

// Does a granule of a box that lies at `at` have an element of the tensor?
__device__ __noinline__ u32 in_tensor(const Worker* k, const Box* b, u64 at, u64 granule) {
    const u32 shift = ((const Launch*)k->launch)->granule_shift, byte = swizzled(k, b, granule << shift, 0) - at;
    if (byte % b->pitch >= row_bytes(b)) return 0;
    const i64 x = b->at[0] + byte % b->pitch / b->bytes, last = x + (1 << shift > b->bytes ? (1 << shift) / b->bytes - 1 : 0);
    return (column_inside(b, x) || column_inside(b, last)) && line_of(b, byte / b->pitch) != ~0ull;
}

// The sectors that the tensor has of a box, row by row; one that the row before ends with is not read again.
__device__ __noinline__ u64 sectors_once(const Box* b) {
    i64 first, last;
    u64 before = ~0ull, found = 0;
    const u32 rows = rows_of(b);
    if (!range_of(b, 0, &first, &last)) return 0;
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row) {
        const u64 line = line_of(b, row), at = b->base + line + first * b->bytes;
        if (line == ~0ull) continue;
        found += sectors_of(at, (last - first + 1) * b->bytes) - (at >> 5 == before);
        before = at + (last - first + 1) * b->bytes - 1 >> 5;
    }
    return found;
}

// What an H100 counts: the sectors of each part of a row that lies in one line of 128 bytes of shared memory, and in a load one for each 32
// bytes that lie outside of the tensor, on either side of it; what begins inside is inside up to a multiple of 16 bytes. A multicast counts at
// least two sectors of each line of 128 bytes of global memory that such a part reaches into, at least three of what lies outside, and one more
// where the last 16 bytes inside are not whole.
__device__ __forceinline__ u64 sectors_by_lines(u64 at, u64 bytes) {
    const u64 end = at + bytes;
    u64 found = 0;
#pragma unroll 1
    for (u64 next; at < end; at = next) {
        next = min(end, (at | 127) + 1);
        found += max(2ull, sectors_of(at, next - at));
    }
    return found;
}

__device__ __forceinline__ u64 sectors_outside(i64 bytes, u32 many) {
    return bytes && many ? max((i64)3, bytes + 31 >> 5) : bytes + 31 >> 5;
}

__device__ __noinline__ u64 sectors_received(const Box* b, u32 load, u32 many) {
    const u32 rows = rows_of(b), wide = row_bytes(b);
    const i64 width = (i64)b->extent[0] * b->bytes + 15 & ~15;
    u64 found = 0;
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row) {
        const u64 line = line_of(b, row);
#pragma unroll 1
        for (u32 byte = 0, end; byte < wide; byte = end) {
            end = min(wide, byte + 128 - (row * b->pitch + byte & 127));
            const i64 low = b->at[0] * (i64)b->bytes + byte, high = low + end - byte;
            const i64 first = line == ~0ull ? high : min(max(low, (i64)0), high), last = max(min(high, width), first);
            const i64 outside = sectors_outside(first - low, many) + sectors_outside(high - (line == ~0ull ? high : last), many);
            const u64 at = b->base + line + first, bytes = last - first;
            found += (line == ~0ull ? 0 : many ? sectors_by_lines(at, bytes) : sectors_of(at, bytes)) + (load ? outside : 0);
            found += many && line != ~0ull && bytes && last == width && (b->extent[0] * b->bytes & 15);
        }
    }
    return found;
}

// One copy, into the shared memory of the block h or of each block of a mask, as one_copy of bulk.cuh does it.
__device__ __noinline__ u32 one_box(Warp* w, const BoxCopy* c, u32 lane, Worker* h, u64 shared, u64 map, u64 object) {
    Box box;
    const u32 many = c->mask_slot != ~0u;
    if (open_map(w, c, lane, map, &box)) return 1;
#pragma unroll 1
    for (u32 i = 0; i < MOST_AXES; ++i) {
        box.at[i] = i < c->rank ? (int)operand_of(w, c->at[i], c->at_slot[i], lane) : 0;
        if (box.at[i] < 0 && c->kind == INTO_GLOBAL) return map_misused(w, c, lane, BEHIND_START, box.at[i]);
    }
    if (box.at[0] * box.bytes % PIECE_BYTES) return map_misused(w, c, lane, LOOSE_COLUMN, box.at[0] * box.bytes);
    const u64 window = ((const Launch*)w->launch)->shared_begin + shared;
    if (window & TILE_ALIGNMENT - 1) return map_misused(w, c, lane, LOOSE_TILE, window);
    const u32 bytes = rows_of(&box) * row_bytes(&box);
    const u64 wrong = outside(shared, bytes + box.gaps, 0, w->shared_bytes);
    if (wrong != ~0ull) return fault(w, OUT_OF_BOUNDS, c->number, lane, wrong);
    if (find_tensor(w, c, lane, &box)) return 1;
    const u64 sectors = sectors_received(&box, c->kind == INTO_SHARED, many);
    u64 received = 0;
#pragma unroll 1
    for (u32 left = many ? (u32)read_slot(w, c->mask_slot, 2, lane) : 1; left; left &= left - 1) {
        h = target_of(w, c->number, lane, h, many, left, shared);
        if (!h) return 1;
        received += sectors;
        Object* o = c->kind == INTO_SHARED ? find_object(w, h, c->number, lane, object) : 0;
        if (c->kind == INTO_SHARED && !o) return 1;
        Flight* f = send(w, h, c->number, lane, c->kind, o, shared, bytes + box.gaps, &box);
        f->change = c->change;
        f->element = box.number;
        f->width = box.bytes;
    }
    count_copy(w, c->number, received, sectors_once(&box));
    return 0;
}

// One copy of a box for each active lane. Returns 1 after a fault.
extern "C" __device__ u32 copy_box(Warp* w, const BoxCopy* c) {
    u64 shared[LANES], map[LANES], object[LANES];
    Worker *home[LANES], *told[LANES];
    if (!w->mask) return 0;
    if (places_in_cluster(w, &c->shared, shared, home)) return 1;
    if (c->kind == INTO_SHARED && places_in_cluster(w, &c->object, object, told)) return 1;
    addresses(w, &c->map, map);
    if (w->traced) record(w, c->number, 0, shared);
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (c->kind == INTO_SHARED && home[l] != told[l]) return misused(w, OTHER_BLOCK, c->number, l, 0, 0);
        if (one_box(w, c, l, home[l], shared[l], map[l], object[l])) return 1;
    }
    ++((Worker*)w->worker)->epoch;
    return 0;
}
