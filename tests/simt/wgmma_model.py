"""What `wgmma` multiplies, in plain NumPy: where operands lie in shared memory, which thread holds what, how sums are rounded.

No code of the simulator is used. Layouts are those that CUTLASS names INTERLEAVE, B32, B64 and B128; sums follow arXiv:2511.10909.
"""

import math

import numpy as np
import tensor_model as model

MODES = {16: 0, 128: 1, 64: 2, 32: 3}       # bytes that are neighbours -> bits 62 and 63 of a descriptor
KINDS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}
LEAST = {**model.LEAST, "e4m3": -6, "e5m2": -14}


def swizzled(image, width):
    """Exchange pieces of 16 bytes: each piece's number in its line of 128 bytes is combined with the line's, as far as `width`."""
    pieces, found = image.reshape(-1, 8, 16), np.empty_like(image).reshape(-1, 8, 16)
    for line in range(len(pieces)):
        for piece in range(8):
            found[line, piece ^ line % 8 % (width // 16)] = pieces[line, piece]
    return found.ravel()


def along_k(rows, width):
    """Lay out (rows, bytes along K), a tile of `width` bytes behind the other: return (image, leading, stride, bytes to the next 32)."""
    count, depth = rows.shape
    if width == 16:                     # 8 rows of 16 bytes are a block; blocks along the rows first
        blocks = rows.reshape(count // 8, 8, depth // 16, 16).transpose(2, 0, 1, 3)
        return blocks.ravel(), 16 * count, 128, 32 * count
    tiles = rows.reshape(count, depth // width, width).transpose(1, 0, 2)
    image = swizzled(np.ascontiguousarray(tiles).ravel(), width)
    return image, 16, 8 * width, None if depth > width else 32


def across(matrix, width):
    """Lay out a (rows, K) matrix of 16-bit elements with rows along a line: return (image, leading, stride, bytes to the next 16 of K)."""
    lines = np.ascontiguousarray(matrix.T)               # (K, rows)
    depth, count = lines.shape
    raw = lines.view(np.uint8).reshape(depth, 2 * count)
    if width == 16:                     # 8 lines of 16 bytes are a block; blocks along K first
        blocks = raw.reshape(depth // 8, 8, count // 8, 16).transpose(2, 0, 1, 3)
        return blocks.ravel(), 128, 16 * depth, 256
    groups = raw.reshape(depth, 2 * count // width, width).transpose(1, 0, 2)
    return swizzled(np.ascontiguousarray(groups).ravel(), width), depth * width, 8 * width, 16 * width


def held(n):
    """Return (rows, columns) of the elements of D that each of 128 threads holds, (128, n / 2) each."""
    thread, i = np.ogrid[:128, :n // 2]
    return thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8, i // 4 * 8 + thread % 4 * 2 + i % 2


def registers_of_a(rows):
    """Return the four 32-bit registers of A of each thread, (128, 4), from (64, 32) bytes."""
    words = np.ascontiguousarray(rows).view(np.uint32)
    thread, i = np.ogrid[:128, :4]
    return words[thread // 32 * 16 + thread % 32 // 4 + i % 2 * 8, thread % 4 + i // 2 * 4]


def decode(raw, kind):
    """Return the values of unsigned integers that encode numbers of a type."""
    raw = np.asarray(raw)
    if kind in ("s8", "u8"):
        return raw.astype(np.uint8).view(np.int8 if kind == "s8" else np.uint8).astype(float)
    if kind == "f16":
        return raw.astype(np.uint16).view(np.float16).astype(float)
    if kind == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(float)
    if kind == "tf32":
        return (raw.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(float)
    if kind == "e5m2":
        return (raw.astype(np.uint16) << 8).view(np.float16).astype(float)
    exponents, fractions = raw >> 3 & 15, raw & 7
    sizes = np.where(exponents == 0, fractions * 2.0**-9, (8 + fractions) * 2.0 ** (exponents.astype(float) - 10))
    return np.where(raw & 0x7F == 0x7F, np.nan, np.where(raw & 0x80, -sizes, sizes))


def fused(a, b, c, kinds, out):
    """Return the bits of the sum of a[i] * b[i] and c: all terms cut off so far behind the largest, the sum cut off or rounded."""
    eights = kinds[0] in ("e4m3", "e5m2")
    guard = 13 if eights else 25
    with np.errstate(invalid="ignore"):
        plain = float(np.sum(a * b) + c)
    if math.isnan(plain):
        return 0x7FFFFFFF if out == "f32" else 0x7FFF
    if math.isinf(plain):
        return (0x7F800000 if plain > 0 else 0xFF800000) if out == "f32" else (0x7C00 if plain > 0 else 0xFC00)

    def exponent(value, kind):
        return max(math.frexp(value)[1] - 1, LEAST[kind])
    terms = [(*model.product(x, y), exponent(x, kinds[0]) + exponent(y, kinds[1])) for x, y in zip(a, b) if x and y]
    terms += [(*model.product(c, 1.0), exponent(c, out))] if c else []
    top = max([e for _, _, e in terms] + [-126])
    bits = model.rounded(sum(model.cut(whole, e + guard - top) for whole, e, _ in terms), top - guard, out)
    return bits & ~0x3FF if eights and out == "f32" else bits


def multiply(A, B, C, kinds, out, rows=range(64)):
    """Return the bits of those rows of D = A B^T + C."""
    if out == "s32":
        return (A[list(rows)] @ B.T + C[list(rows)]).astype(np.int64).astype(np.uint32)
    return np.array([[fused(A[i], B[j], float(C[i, j]), kinds, out) for j in range(len(B))] for i in rows],
                    np.uint32 if out == "f32" else np.uint16)
