// descriptors.cuh -- operands of wgmma in shared memory: where a matrix descriptor puts them

// A matrix lies in pieces of 16 bytes, eight lines of pieces make a block. Along K ("K-major", each row of A and column of B is a line
// of two pieces) or across (M or N lie along a line: eight elements of 16 bits in a piece, 16 lines). A descriptor says, in units of 16
// bytes, where the first piece lies (bits 0-13), the leading (16-29) and the stride offset (32-45); in bits 62-63 how many pieces of a
// line are neighbours and exchanged among each other (swizzled): 0: 1, 1: 8, 2: 4, 3: 2. Facts: "PTX ISA", Matrix Descriptor Format, and
// how CUTLASS fills descriptors (cute/arch/mma_sm90_desc.hpp, cute/atom/mma_traits_sm90_gmma.hpp). Bits 49-51, the base offset, are 0 in
// all kernels that we know; that they turn the pattern back by so many lines of 128 bytes is our reading of the manual, unmeasured.

enum { PIECE = 16 };

struct Layout { u32 start, leading, stride, together, base, across; };

__device__ __noinline__ void open_descriptor(Layout* m, u64 descriptor, u32 across) {
    const u32 mode = descriptor >> 62;
    m->start = ((u32)descriptor & 0x3fff) << 4;
    m->leading = ((u32)(descriptor >> 16) & 0x3fff) << 4;
    m->stride = ((u32)(descriptor >> 32) & 0x3fff) << 4;
    m->together = mode == 0 ? 1 : mode == 1 ? 8 : mode == 2 ? 4 : 2;
    m->base = ((u32)(descriptor >> 49) & 7) << 7;
    m->across = across;
}

// The address of a piece in the window of shared memory.
__device__ __noinline__ u32 piece_at(const Layout* m, u32 line, u32 piece) {
    const u32 inside = (line & 7) * PIECE * m->together, block = line >> 3;
    if (m->together == 1)
        return m->start + inside + (m->across ? block * m->leading + piece * m->stride : block * m->stride + piece * m->leading);
    const u32 at = m->start + inside + block * m->stride + piece % m->together * PIECE + piece / m->together * m->leading;
    return at ^ ((at - m->base) >> 7 & (m->together - 1)) << 4;
}

__device__ __forceinline__ u32 lines_of(const WideProduct* p, u32 rows, u32 across) { return across ? p->k : rows; }
__device__ __forceinline__ u32 pieces_of(u32 rows, u32 across) { return across ? rows / 8 : 2; }

// Does the matrix lie in what is stored of shared memory? Otherwise *where is an address outside.
__device__ __noinline__ u32 lies_inside(const Launch* L, const Layout* m, u32 lines, u32 pieces, u64* where) {
#pragma unroll 1
    for (u32 line = 0; line < lines; ++line)
#pragma unroll 1
        for (u32 piece = 0; piece < pieces; ++piece) {
            *where = piece_at(m, line, piece);
            if (*where < L->shared_begin || *where - L->shared_begin + PIECE > L->shared_bytes) return 0;
        }
    return 1;
}

// The elements in words of 32 bits, `bits` wide each: element k of row i to out[i * row_step + k * k_step].
__device__ __noinline__ void spread_words(const u32* words, u32 rows, u32 bits, u32 row_step, u32 k_step, u32* out) {
    const u32 per = 32 / bits, mask = bits == 32 ? ~0u : (1u << bits) - 1;
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row)
#pragma unroll 1
        for (u32 i = 0; i < 8 * per; ++i)
            out[row * row_step + i * k_step] = words[8 * row + i / per] >> i % per * bits & mask;
}

// Read a matrix from shared memory whose first stored byte lies at `shared`, which is the address of the window's byte 0.
__device__ __noinline__ void read_matrix(u64 shared, const Layout* m, u32 rows, u32 k, u32 bits, u32 row_step, u32 k_step, u32* words, u32* out) {
    if (m->across) {
#pragma unroll 1
        for (u32 line = 0; line < k; ++line)
#pragma unroll 1
            for (u32 i = 0; i < rows; ++i)
                out[i * row_step + line * k_step] = ((const u16*)(shared + piece_at(m, line, i / 8)))[i % 8];
        return;
    }
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row)
#pragma unroll 1
        for (u32 piece = 0; piece < 2; ++piece) {
            const u64 from = shared + piece_at(m, row, piece);
            *(u64*)(words + 8 * row + 4 * piece) = *(const u64*)from;
            *(u64*)(words + 8 * row + 4 * piece + 2) = *(const u64*)(from + 8);
        }
    spread_words(words, rows, bits, row_step, k_step, out);
}
