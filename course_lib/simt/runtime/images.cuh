// images.cuh -- texture fetches and surface accesses ("CUDA C++ Programming Guide", Texture Fetching; "PTX ISA", tex, tld4, suld, sust)

// Coordinates are computed in double precision, each operation rounded; `__dmul_rn` and its like are never fused. What the guide
// leaves open is written at simt.Texture, host/images.py.

enum { NO_TEXEL = -1 };

__device__ __forceinline__ void drop_nan(double* x) {
    if (*x != *x) *x = 0.0;
}

// A coordinate along one axis in texels, folded or clamped as the address mode says; of a border it may lie outside.
__device__ __noinline__ double texel_coordinate(float given, u32 mode, u32 normalized, u32 n) {
    double x = given;
    drop_nan(&x);
    if (normalized) {
        const double whole = floor(x);
        if (mode >= ADDRESS_WRAP) x = x - whole;
        if (mode == ADDRESS_MIRROR && whole - __dmul_rn(2.0, floor(__dmul_rn(whole, 0.5))) != 0.0) x = 1.0 - x;
        drop_nan(&x);               // infinity less infinity
        x = __dmul_rn(x, (double)n);
    }
    const double low = mode == ADDRESS_BORDER ? -2.0 : 0.0, high = mode == ADDRESS_BORDER ? n + 2.0 : n;
    return x < low ? low : x > high ? high : x;
}

// The texel that stands at an index, which may lie outside.
__device__ __forceinline__ int texel_index(i64 i, u32 mode, u32 n) {
    if (i >= 0 && i < n) return i;
    if (mode == ADDRESS_BORDER) return NO_TEXEL;
    return (i < 0) == (mode == ADDRESS_WRAP) ? n - 1 : 0;
}

// The index of the texel under a coordinate; of a coordinate that is folded, the upper end belongs to the last texel.
__device__ __forceinline__ int nearest_texel(double x, u32 mode, u32 n) {
    return texel_index((i64)floor(x), mode == ADDRESS_WRAP ? ADDRESS_CLAMP : mode, n);
}

__device__ __noinline__ u32 float_of_half(u32 h) {
    const u32 e = h >> 10 & 31, m = h & 1023, sign = (h & 0x8000) << 16;
    if (e == 31) return m ? 0x7fffffffu : sign | 0x7f800000u;
    return sign | (e ? (e + 112) << 23 | m << 13 : __float_as_uint((float)m * 5.9604644775390625e-8f));   // 2^-24
}

// One channel of a texel as the kernel gets it: the bits of a float, or an integer.
__device__ __noinline__ u32 texel(const Image* t, int x, int y, u32 channel) {
    if (x == NO_TEXEL || y == NO_TEXEL || channel >= t->channels) return 0;
    const u64 at = t->host + (i64)y * t->pitch + ((u64)x * t->channels + channel) * t->bytes;
    const u32 raw = t->bytes == 4 ? *(const u32*)at : t->bytes == 2 ? *(const u16*)at : *(const u8*)at;
    if (t->element == OF_HALF) return float_of_half(raw);
    if (t->element == OF_FLOAT || t->bytes == 4) return raw;
    const u32 bits = 8 * t->bytes;
    if (t->element == OF_UNSIGNED)
        return t->fractions ? __float_as_uint(__fdiv_rn((float)raw, (float)((1u << bits) - 1))) : raw;
    const int value = (int)(raw << (32 - bits)) >> (32 - bits);
    if (!t->fractions) return value;
    const float fraction = __fdiv_rn((float)value, (float)((1u << (bits - 1)) - 1));
    return __float_as_uint(fraction < -1.0f ? -1.0f : fraction);
}

// The lower texel of the two around a coordinate, and the weight of the upper one in 1/256, 0 to 256.
__device__ __forceinline__ i64 lower_texel(double x, u32* weight) {
    const double shifted = x - 0.5, whole = floor(shifted);
    *weight = (u32)floor(__dmul_rn(shifted - whole, 256.0) + 0.5);
    return (i64)whole;
}

__device__ __forceinline__ double weighed(const Image* t, int x, int y, u32 channel, u32 weight) {
    return __dmul_rn((double)__uint_as_float(texel(t, x, y, channel)), (double)weight);
}

__device__ __noinline__ u32 filtered(const Image* t, const double* at, u32 dimensions, u32 channel) {
    u32 a, b = 0;
    const i64 i = lower_texel(at[0], &a), j = dimensions == 2 ? lower_texel(at[1], &b) : 0;
    const int x0 = texel_index(i, t->address[0], t->width), x1 = texel_index(i + 1, t->address[0], t->width);
    double sum;
    if (dimensions == 1) {
        sum = __dadd_rn(weighed(t, x0, 0, channel, 256 - a), weighed(t, x1, 0, channel, a)) * 0.00390625;
    } else {
        const int y0 = texel_index(j, t->address[1], t->height), y1 = texel_index(j + 1, t->address[1], t->height);
        sum = __dadd_rn(weighed(t, x0, y0, channel, (256 - a) * (256 - b)), weighed(t, x1, y0, channel, a * (256 - b)));
        sum = __dadd_rn(sum, weighed(t, x0, y1, channel, (256 - a) * b));
        sum = __dadd_rn(sum, weighed(t, x1, y1, channel, a * b)) * 0.0000152587890625;
    }
    return sum != sum ? 0x7fffffffu : __float_as_uint(__double2float_rn(sum));
}

// The four texels that a filter would mix, counter-clockwise from the lower left; the guide: with 8 bits of fraction.
__device__ __noinline__ void gather(const Image* t, const double* at, u32 channel, u32* found) {
    u32 a, b;
    const i64 i = lower_texel(at[0], &a) + (a == 256), j = lower_texel(at[1], &b) + (b == 256);
    const int x0 = texel_index(i, t->address[0], t->width), x1 = texel_index(i + 1, t->address[0], t->width);
    const int y0 = texel_index(j, t->address[1], t->height), y1 = texel_index(j + 1, t->address[1], t->height);
    found[0] = texel(t, x0, y1, channel);
    found[1] = texel(t, x1, y1, channel);
    found[2] = texel(t, x1, y0, channel);
    found[3] = texel(t, x0, y0, channel);
}

// Find what a lane's handle names, and refuse what it cannot be used for.
__device__ __noinline__ const Image* image_of(Warp* w, const Fetch* f, u32 lane) {
    const Launch* L = (const Launch*)w->launch;
    const u64 handle = read_slot(w, f->handle, 8, lane);
    if (handle < IMAGES || handle - IMAGES >= L->image_count) {
        fault(w, NO_IMAGE, f->number, lane, handle);
        return 0;
    }
    const Image* t = (const Image*)L->images + (handle - IMAGES);
    const u32 use = f->use >= READ_SURFACE, kind = t->element == OF_HALF || t->fractions ? OF_FLOAT : t->element;
    const u32 level = f->level == ~0u ? 0 : (u32)read_slot(w, f->level, 4, lane) << 1;    // a negative zero is a zero
    const u32 beyond = f->use == GATHER ? f->channel >= t->channels : f->channels > t->channels;
    const u32 wrong = use != t->surface ? OTHER_USE : f->dimensions != t->dimensions ? OTHER_DIMENSIONS
                    : use ? (f->use == WRITE_SURFACE && !t->writable ? NOT_WRITABLE : 0)
                    : kind != f->result ? OTHER_TYPE : beyond ? NO_SUCH_CHANNEL : level ? NO_SUCH_LEVEL
                    : f->texels && t->normalized ? TEXELS_WANTED : 0;
    if (!wrong) return t;
    fault(w, IMAGE_MISFIT, f->number, lane, (handle - IMAGES) << 8 | wrong);
    return 0;
}

__device__ __noinline__ void sample(Warp* w, const Fetch* f, const Image* t, u32 lane) {
    const u32 n[2] = {t->width, t->height};
    double at[2] = {0.0, 0.0};
    int nearest[2] = {0, 0};
    u32 found[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (u32 axis = 0; axis < f->dimensions; ++axis) {
        const u32 given = read_slot(w, f->at[axis], 4, lane);
        if (f->texels) {
            nearest[axis] = texel_index((int)given, t->address[axis], n[axis]);
        } else {
            at[axis] = texel_coordinate(__uint_as_float(given), t->address[axis], t->normalized, n[axis]);
            nearest[axis] = nearest_texel(at[axis], t->address[axis], n[axis]);
        }
    }
    if (f->use == GATHER) gather(t, at, f->channel, found);
    else
#pragma unroll 1
        for (u32 c = 0; c < t->channels; ++c)
            found[c] = t->linear && !f->texels ? filtered(t, at, f->dimensions, c) : texel(t, nearest[0], nearest[1], c);
#pragma unroll 1
    for (u32 c = 0; c < 4; ++c)
        if (f->item[c] != ~0u) write_slot(w, f->item[c], 4, lane, found[c]);
}

// Where a lane's access lies in a surface, moved inside by the mode clamp; 0: outside, and nothing happens; ~0: a fault.
__device__ __noinline__ u64 surface_place(Warp* w, const Fetch* f, const Image* t, u32 lane) {
    const i64 size = f->bytes * f->count, last = ((i64)t->width * t->channels * t->bytes - size) / size * size;
    i64 x = (int)read_slot(w, f->at[0], 4, lane), y = f->dimensions == 2 ? (int)read_slot(w, f->at[1], 4, lane) : 0;
    const u64 where = (u64)(u32)y << 32 | (u32)x;
    if (x & (size - 1)) return fault(w, UNALIGNED_SURFACE, f->number, lane, where), ~0ull;
    const bool row = size <= (i64)t->width * t->channels * t->bytes;
    const bool inside = row && x >= 0 && x <= last && y >= 0 && y < t->height;
    if (!inside && f->boundary == BOUNDARY_ZERO) return 0;
    if (!inside && (f->boundary == BOUNDARY_TRAP || !row)) return fault(w, OUTSIDE_SURFACE, f->number, lane, where), ~0ull;
    x = x < 0 ? 0 : x > last ? last : x;
    y = y < 0 ? 0 : y >= t->height ? t->height - 1 : y;
    return t->host + y * t->pitch + x;
}

__device__ __noinline__ void move_surface(Warp* w, const Fetch* f, u64 at, u32 lane) {
#pragma unroll 1
    for (u32 i = 0; i < f->count; ++i) {
        u64 value = f->use == WRITE_SURFACE ? read_slot(w, f->item[i], f->item_bytes, lane) : 0;
#pragma unroll 1
        for (u32 b = 0; at && b < f->bytes; ++b) {      // byte by byte: rows of a NumPy array begin anywhere
            u8* byte = (u8*)(at + i * f->bytes + b);
            if (f->use == WRITE_SURFACE) *byte = value >> 8 * b;
            else value |= (u64)*byte << 8 * b;
        }
        if (f->use == READ_SURFACE && f->item[i] != ~0u) write_slot(w, f->item[i], f->item_bytes, lane, value);
    }
}

extern "C" __device__ u32 use_image(Warp* w, const Fetch* f) {
#pragma unroll 1
    for (u32 left = w->mask; left; left &= left - 1) {
        const u32 lane = lowest(left);
        const Image* t = image_of(w, f, lane);
        if (!t) return 1;
        if (f->use < READ_SURFACE) {
            sample(w, f, t, lane);
            continue;
        }
        const u64 at = surface_place(w, f, t, lane);
        if (at == ~0ull) return 1;
        move_surface(w, f, at, lane);
    }
    return 0;
}
