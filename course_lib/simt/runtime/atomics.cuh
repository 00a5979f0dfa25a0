// atomics.cuh -- read, change and write back, lane by lane

enum Change { ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, COMPARE, INCREMENT, DECREMENT };
enum Number { UNSIGNED, SIGNED, FLOAT, HALVES, BRAINS };   // f16 and bf16 (BRAINS), one number or two of them packed

__device__ __forceinline__ u32 is_nan(u64 bits) { return (bits & ~0ull >> 1) > 0x7ff0000000000000ull; }

// As an H100 does it: single precision in global memory flushes subnormal numbers, in shared memory not; its NaN is always the same.
// In double precision the NaN that is added survives, or else the one in memory.
__device__ __noinline__ u64 add_floats(u64 a, u64 b, u32 bytes, u32 space) {
    const u64 quiet = 0x0008000000000000ull;
    if (bytes == 4) {
        const float x = __uint_as_float(a), y = __uint_as_float(b);
        float sum = __fadd_rn(x, y);
        if (space == GLOBAL) asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(sum) : "f"(x), "f"(y));
        return sum == sum ? __float_as_uint(sum) : 0x7fffffff;
    }
    if (is_nan(b)) return b | quiet;
    if (is_nan(a)) return a | quiet;
    const u64 sum = __double_as_longlong(__dadd_rn(__longlong_as_double(a), __longlong_as_double(b)));
    return is_nan(sum) ? 0xfff8000000000000ull : sum;
}

#define PACKED(how, type) asm(how "." type " %0, %1, %2;" : "=r"(result) : "r"((u32)a), "r"((u32)b))
__device__ __noinline__ u64 of_halves(u32 what, u32 number, u64 a, u64 b) {
    u32 result;
    if (number == HALVES) {
        if (what == ADD) PACKED("add.rn", "f16x2");
        else if (what == MIN) PACKED("min", "f16x2");
        else PACKED("max", "f16x2");
    } else {
        if (what == ADD) PACKED("add.rn", "bf16x2");
        else if (what == MIN) PACKED("min", "bf16x2");
        else PACKED("max", "bf16x2");
    }
    return result;
}

__device__ __noinline__ u64 changed(u32 what, u32 number, u32 bytes, u32 space, u64 old, u64 b, u64 c) {
    if (number >= HALVES) return of_halves(what, number, old, b);
    const u32 unused = 64 - 8 * bytes;
    const i64 so = (i64)(old << unused) >> unused, sb = (i64)(b << unused) >> unused;
    switch (what) {
    case ADD: return number == FLOAT ? add_floats(old, b, bytes, space) : old + b;
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

// atom.exch and atom.cas of 128 bits
__device__ __noinline__ void change_wide(Warp* w, const Access* a, u64* at, u32 lane) {
    const u64 old[2] = {at[0], at[1]};
    const u64* b = (const u64*)(w->registers + a->item[1] + 16 * lane);
    const u64* put = a->tag == EXCHANGE ? b : (const u64*)(w->registers + a->item[2] + 16 * lane);
    if (a->tag == EXCHANGE || old[0] == b[0] && old[1] == b[1]) at[0] = put[0], at[1] = put[1];
    if (a->item[0] == ~0u) return;
    u64* result = (u64*)(w->registers + a->item[0] + 16 * lane);
    result[0] = old[0];
    result[1] = old[1];
}

__device__ __forceinline__ void change_one(Warp* w, const Access* a, u32 space, u64 at, u32 i, u32 lane) {
    const u64 old = load_bytes(at, a->width, 0);
    const u64 b = read_slot(w, a->item[a->count + i], a->item_bytes, lane);
    const u64 c = a->tag == COMPARE ? read_slot(w, a->item[2], a->item_bytes, lane) : 0;
    store_bytes(at, a->width, changed(a->tag, a->sign, a->width, space, old, b, c));
    if (a->item[i] != ~0u) write_slot(w, a->item[i], a->item_bytes, lane, old);
}

__device__ __noinline__ void change(Warp* w, const Access* a, u32 space, const u64* host) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 l = lowest(left);
        if (a->width == 16) {
            change_wide(w, a, (u64*)host[l], l);
            continue;
        }
#pragma unroll 1
        for (u32 i = 0; i < a->count; ++i) change_one(w, a, space, host[l] + i * a->width, i, l);
    }
}
