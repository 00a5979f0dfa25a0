"""Arithmetic on integers: results by Python's integers, which have no size."""

import numpy as np

from hardware_catalog.cases import case, read_only

INT = np.int32


def integers(rng, n, bits):
    """Return n pairs of signed numbers: pairs of limits and small ones, then random ones of all sizes."""
    half = 1 << bits - 1
    some = [0, 1, -1, 2, 7, -10, half - 1, -half, half - 2, 1 - half, half >> 1, 127]
    pairs = [(a, b) for a in some for b in some]
    while len(pairs) < n:
        pairs.append(tuple(int(rng.integers(-half, half)) >> int(rng.integers(0, bits)) for _ in range(2)))
    return pairs[:n]


def rows(functions, pairs, dtype):
    """Return one row per function over the pairs, cut to the type."""
    bits = 8 * np.dtype(dtype).itemsize
    found = [[f(a, b) & (1 << bits) - 1 for a, b in pairs] for f in functions]
    return np.array(found, f"u{bits // 8}").view(dtype)


def unsigned(bits):
    return lambda a: a & (1 << bits) - 1


def quotient(a, b):
    """Divide as C does, towards zero; 0 where the kernels skip the division."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return 0 if b == 0 else a - b * quotient(a, b)


def ones(v):
    return bin(v).count("1")


def sign24(v):
    return (v & 0xFFFFFF) - ((v & 0x800000) << 1)


def byte_permute(a, b, selector):
    both = (b << 32 | a).to_bytes(8, "little")
    return int.from_bytes(bytes(both[selector >> 4 * k & 7] for k in range(4)), "little")


def zeros_ahead(v, bits):
    return bits - v.bit_length()


def first_one(v):
    return (v & -v).bit_length()


def reverse(v, bits):
    return int(f"{v:0{bits}b}"[::-1], 2)


@case(3, 128)
def int32_ops(rng):
    u, low = unsigned(32), -(1 << 31)

    def skipped(a, b):
        return b == 0 or b == -1 and a == low
    functions = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b,
        lambda a, b: 0 if skipped(a, b) else quotient(a, b), lambda a, b: 0 if skipped(a, b) else remainder(a, b),
        lambda a, b: quotient(u(a), u(b)), lambda a, b: remainder(u(a), u(b)),
        lambda a, b: quotient(a, 7), lambda a, b: remainder(a, 10), lambda a, b: u(a) // 1000,
        lambda a, b: a * b >> 32, lambda a, b: u(a) * u(b) >> 32, lambda a, b: sign24(a) * sign24(b),
        lambda a, b: (u(a) & 0xFFFFFF) * (u(b) & 0xFFFFFF),
        lambda a, b: a >> (b & 31), lambda a, b: u(a) >> (b & 31), lambda a, b: a << (b & 31),
        lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: ~a, lambda a, b: ~(a ^ b),
        lambda a, b: min(a, b), lambda a, b: max(a, b), lambda a, b: min(u(a), u(b)), lambda a, b: max(u(a), u(b)),
        lambda a, b: ones(u(a)), lambda a, b: zeros_ahead(u(a), 32), lambda a, b: first_one(u(a)), lambda a, b: reverse(u(a), 32),
        lambda a, b: byte_permute(u(a), u(b), a & 0x7777), lambda a, b: (u(b) << 32 | u(a)) << (a & 31) >> 32,
        lambda a, b: (u(b) << 32 | u(a)) >> min(b & 63, 32),
        lambda a, b: abs(a - b) + 5, lambda a, b: abs(u(a) - u(b)) + 7, lambda a, b: a + b >> 1, lambda a, b: a + b + 1 >> 1,
        lambda a, b: u(a) + u(b) >> 1, lambda a, b: a if a < b else -3,
        lambda a, b: (a < b) + 2 * (u(a) < u(b)) + 4 * (a == b), lambda a, b: a >> 5 & 0x3FF, lambda a, b: (a & ~0xFF00) | (b & 0xFF) << 8,
    ]
    pairs = integers(rng, 300, 32)
    a, b = read_only(*(np.array(v).astype(INT) for v in zip(*pairs)))
    want = rows(functions, pairs, INT)
    return [INT(300), a, b, np.zeros_like(want)], {3: want}


@case(5, 64)
def int64_ops(rng):
    u = unsigned(64)

    def skipped(a, b):
        return b in (0, -1)
    functions = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b,
        lambda a, b: 0 if skipped(a, b) else quotient(a, b), lambda a, b: 0 if skipped(a, b) else remainder(a, b),
        lambda a, b: quotient(u(a), u(b)), lambda a, b: remainder(u(a), u(b)),
        lambda a, b: quotient(a, 10), lambda a, b: u(a) % 1000000007, lambda a, b: a * b >> 64, lambda a, b: u(a) * u(b) >> 64,
        lambda a, b: a >> (b & 63), lambda a, b: u(a) >> (b & 63), lambda a, b: a << (b & 63),
        lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: ~a,
        lambda a, b: min(a, b), lambda a, b: max(u(a), u(b)), lambda a, b: abs(a >> 1),
        lambda a, b: ones(u(a)), lambda a, b: zeros_ahead(u(a), 64), lambda a, b: first_one(u(a)), lambda a, b: reverse(u(a), 64),
        lambda a, b: a < b, lambda a, b: u(a) < u(b),
        lambda a, b: ((a + 2**31) % 2**32 - 2**31) * ((b + 2**31) % 2**32 - 2**31), lambda a, b: (a % 2**32) * (b % 2**32),
    ]
    pairs = integers(rng, 300, 64)
    a, b = read_only(*(np.array(v, np.int64) for v in zip(*pairs)))
    want = rows(functions, pairs, np.int64)
    return [INT(300), a, b, np.zeros_like(want)], {3: want}


@case(4, 64)
def narrow_ops(rng):
    u, v = unsigned(8), unsigned(16)
    small = [
        lambda a, b: a + b, lambda a, b: a * b, lambda a, b: u(a) >> 3, lambda a, b: a >> 3, lambda a, b: quotient(a, b | 1),
        lambda a, b: u(a) % (u(b) | 1), lambda a, b: min(a, b), lambda a, b: u(a) < u(b),
    ]
    large = [
        lambda s, t: s + t, lambda s, t: s * t, lambda s, t: v(s) * v(t) >> 16, lambda s, t: quotient(s, t | 1),
        lambda s, t: v(s) % (v(t) | 1), lambda s, t: s >> 4, lambda s, t: v(s) >> 4, lambda s, t: max(s, t),
    ]
    n = 200
    bytes_, shorts = integers(rng, n, 8), integers(rng, n, 16)
    mixed = [[x * s for (x, _), (s, _) in zip(bytes_, shorts)], [ones(v(s)) for s, _ in shorts],
             [u(x) << 8 | u(y) for x, y in bytes_], [v(s if s < t else t) for s, t in shorts]]
    want8 = rows(small, bytes_, np.int8)
    want16 = np.concatenate([rows(large, shorts, np.uint16), np.array(mixed).astype(np.uint16)])
    given = [np.array(c, t) for source, t in ((bytes_, np.int8), (shorts, np.int16)) for c in zip(*source)]
    return [INT(n), *read_only(*given), np.zeros_like(want8), np.zeros_like(want16)], {5: want8, 6: want16}


def lanes(word, bits, signed):
    """Cut a word into its parts."""
    parts = [word >> k & (1 << bits) - 1 for k in range(0, 32, bits)]
    return [p - (1 << bits) if signed and p >> bits - 1 else p for p in parts]


def each(function, bits, signed=False):
    """Apply a function of two numbers to the parts of two words."""
    def both(a, b):
        found = [function(x, y) & (1 << bits) - 1 for x, y in zip(lanes(a, bits, signed), lanes(b, bits, signed))]
        return sum(p << bits * k for k, p in enumerate(found))
    return both


@case(4, 64)
def packed_bytes(rng):
    def dot(a, b, k):
        return sum(x * y for x, y in zip(a, b)) + k
    functions = [
        lambda a, b: dot(lanes(a, 8, True), lanes(b, 8, True), 100), lambda a, b: dot(lanes(a, 8, False), lanes(b, 8, False), 100),
        lambda a, b: dot(lanes(a, 16, True), lanes(b, 8, True)[:2], -5), lambda a, b: dot(lanes(a, 16, False), lanes(b, 8, False)[2:], 9),
        each(lambda x, y: x + y, 8), each(lambda x, y: x - y, 16), each(lambda x, y: min(x + y, 255), 8),
        each(lambda x, y: abs(x - y), 8), each(max, 16, True), each(min, 8), each(lambda x, y: -(x > y), 8), each(lambda x, y: x == y, 16),
        each(lambda x, y: x + y + 1 >> 1, 8), lambda a, b: sum(abs(x - y) for x, y in zip(lanes(a, 8, False), lanes(b, 8, False))),
    ]
    n = 200
    pairs = integers(rng, n, 32)
    a, b = read_only(*(np.array(v).astype(INT) for v in zip(*pairs)))
    want = rows(functions, pairs, INT)
    return [INT(n), a, b, np.zeros_like(want)], {3: want}
