// atomics.cuh -- read, change and write back, lane by lane

enum Change { ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, COMPARE, INCREMENT, DECREMENT };
enum Number { UNSIGNED, SIGNED, FLOAT };

__device__ __forceinline__ u64 add_floats(u64 a, u64 b, u32 bytes) {
    if (bytes == 4) return __float_as_uint(__fadd_rn(__uint_as_float(a), __uint_as_float(b)));
    return __double_as_longlong(__dadd_rn(__longlong_as_double(a), __longlong_as_double(b)));
}

__device__ __noinline__ u64 changed(u32 what, u32 number, u32 bytes, u64 old, u64 b, u64 c) {
    const u32 unused = 64 - 8 * bytes;
    const i64 so = (i64)(old << unused) >> unused, sb = (i64)(b << unused) >> unused;
    switch (what) {
    case ADD: return number == FLOAT ? add_floats(old, b, bytes) : old + b;
    case MIN: return number == SIGNED ? (so < sb ? old : b) : (old < b ? old : b);
    case MAX: return number == SIGNED ? (so > sb ? old : b) : (old > b ? old : b);
    case AND: return old & b;
    case OR: return old | b;
    case XOR: return old ^ b;
    case EXCHANGE: return b;
    case COMPARE: return old == b ? c : old;
    case INCREMENT: return old >= b ? 0 : old + 1;
    default: return old == 0 || old > b ? b : old - 1;
    }
}

__device__ __noinline__ void change(Warp* w, const Access* a, const u64* host) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        const u64 old = load_bytes(host[l], a->width, 0);
        const u64 c = a->item[2] == ~0u ? 0 : read_slot(w, a->item[2], a->item_bytes, l);
        store_bytes(host[l], a->width, changed(a->tag, a->sign, a->width, old, read_slot(w, a->item[1], a->item_bytes, l), c));
        if (a->item[0] != ~0u) write_slot(w, a->item[0], a->item_bytes, l, old);
    }
}
