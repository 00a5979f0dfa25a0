"""Blocks at work in shared memory: reductions, scans, sorts, stencils, barriers."""

import numpy as np

from hardware_catalog.cases import case, floats, read_only, whole

INT, FLT = np.int32, np.float32


@case(4, 256, tolerance=1e-6)
def reduce_tree(rng):
    x = floats(rng, 1024)
    return [x, np.zeros(4, FLT)], {1: x.reshape(4, 256).sum(1, dtype=float)}


@case(3, 128, tolerance=1e-14)
def reduce_interleaved(rng):
    x = read_only(rng.standard_normal(384))
    return [x, np.zeros(3)], {1: x.reshape(3, 128).sum(1)}


@case(4, 128)
def scan_block(rng):
    x = whole(rng, -1000, 1000, 512)
    return [x, np.zeros(512, INT)], {1: x.reshape(4, 128).cumsum(1).ravel()}


@case(3, 128)
def scan_tree(rng):
    x = whole(rng, -1000, 1000, 768)
    before = x.reshape(3, 256).cumsum(1) - x.reshape(3, 256)
    return [x, np.zeros(768, INT)], {1: before.ravel()}


@case(2, 256)
def bitonic_sort(rng):
    x = floats(rng, 512)
    return [x, np.zeros(512, FLT)], {1: np.sort(x.reshape(2, 256), axis=1).ravel()}


@case(4, 128, tolerance=1e-6)
def stencil_1d(rng):
    x = floats(rng, 500)
    padded = np.pad(x.astype(float), 3)
    return [INT(500), x, np.zeros(500, FLT)], {2: np.lib.stride_tricks.sliding_window_view(padded, 7).sum(1)}


@case((4, 3), (16, 16), tolerance=1e-6)
def stencil_2d(rng):
    x = floats(rng, 37, 53)
    v, want = x.astype(float), x.astype(float)
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    want[1:-1, 1:-1] += 0.1 * (around - 4 * v[1:-1, 1:-1])
    return [INT(53), INT(37), x, np.zeros((37, 53), FLT)], {3: want}


@case((3, 4), (16, 4), tolerance=1e-14)
def stencil_3d(rng):
    x = read_only(rng.standard_normal((7, 14, 37)))
    want = np.zeros_like(x)
    c = slice(1, -1)
    want[c, c, c] = x[c, c, c] + x[:-2, c, c] + x[2:, c, c] + x[c, :-2, c] + x[c, 2:, c] + x[c, c, :-2] + x[c, c, 2:]
    return [INT(37), INT(14), INT(7), x, np.zeros_like(x)], {4: want}


@case(1, 64)
def game_of_life(rng):
    rows = 50
    cells = rng.integers(0, 2, (rows, 32))
    around = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    after = (around == 3) | (around == 2) & (cells == 1)

    def words(bits):
        return (bits.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)
    return [INT(rows), read_only(words(cells)), np.zeros(rows, np.uint32)], {2: words(after)}


FILTER = np.random.default_rng(1).standard_normal(25).astype(FLT)
PERMUTATION = np.random.default_rng(2).permutation(32).astype(INT)


@case((2, 5), (32, 4), tolerance=1e-6, constants={"filter": FILTER, "permutation": PERMUTATION})
def convolution(rng):
    x = floats(rng, 22, 57)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), (5, 5))
    want = (windows * FILTER.reshape(5, 5)).sum((2, 3))
    return [INT(53), INT(18), INT(57), x, np.zeros((18, 53), FLT)], {4: want}


@case(2, 64)
def local_array(rng):
    x = whole(rng, 0, 1 << 32, 120, dtype=np.uint32)
    want = np.array([int("".join(sorted(str(v)))) & 0xFFFFFFFF for v in x], np.uint32)
    return [INT(120), x, np.zeros(120, np.uint32)], {2: want}


@case(2, 64, constants=None)
def generic_pointers(rng):
    n = 128
    x, y = whole(rng, -1000, 1000, 4, n), np.zeros(3 * n, INT)
    tile = np.zeros((2, 4, 64), np.int64)
    for k in range(4):
        tile[:, k] = x[0].reshape(2, 64) * k
    i = np.arange(n)
    t, b = i % 64, i // 64
    mine = t + t * t - t + i
    turned = tile.sum(1)[b, 63 - t]
    want = np.zeros(3 * n, np.int64)
    want[:n] = np.choose(i % 4, [turned, x.sum(0), mine, np.full(n, 10000)])
    want[n:2 * n] = np.where(i & 1, mine, 0)
    want[2 * n:] = tile[b, 0, t] + np.where(i & 1, 0, mine)
    return [INT(n), x, y], {2: want}


@case(2, 96, dynamic_shared=9 * 96)
def dynamic_shared(rng):
    x, b = read_only(rng.standard_normal(192)), whole(rng, -128, 128, 192, dtype=np.int8)
    turned = [np.roll(a.reshape(2, 96), -13, axis=1).ravel() for a in (x, b)]
    return [INT(13), x, b, np.zeros_like(x), np.zeros_like(b)], {3: turned[0], 4: turned[1]}


@case(2, 128)
def named_barriers(rng):
    x = whole(rng, -1000, 1000, 2, 4, 64)
    return [INT(4), x, np.zeros((2, 4, 64), INT)], {2: 3 * x[:, :, ::-1] + 1}


@case(3, 80)
def barrier_votes(rng):
    x = rng.integers(0, 100, (3, 80)).astype(INT)
    x[1] |= 1
    x[2] &= ~1
    odd = x & 1
    return [read_only(x), np.zeros((3, 3), INT)], {1: np.stack([odd.sum(1), odd.all(1), odd.any(1)], axis=1)}


@case(1, 64, tolerance=1e-6)
def standard_library(rng):
    n = 60
    x = floats(rng, n)
    w = x.astype(float) + 1j * x[::-1]
    w = w * w + w
    i = np.arange(n)
    five = np.sort(np.stack([i * 7 % 11, i * 5 % 13, i, 40 - i, np.full(n, 3)]), axis=0)
    roots = [int(k**0.5) if int(k**0.5)**2 == k else -2**31 for k in range(n)]
    return ([INT(n), x, np.zeros((2, n), FLT), np.zeros((2, n), INT)],
            {2: np.stack([w.real, w.imag]), 3: np.stack([five[2] * 100 + five[4], roots])})


@case(3, 64, tolerance=1e-6)
def fft_shared(rng):
    twiddle = read_only(np.exp(-2j * np.pi * np.arange(64) / 128).astype(np.complex64))
    x = read_only((rng.standard_normal((3, 128)) + 1j * rng.standard_normal((3, 128))).astype(np.complex64))
    return [twiddle, x, np.zeros((3, 128), np.complex64)], {2: np.fft.fft(x.astype(complex), axis=1)}


@case(2, 64, tolerance=1e-5)
def nbody(rng):
    n = 100
    body = floats(rng, n, 4)
    b = body.astype(float)
    d = b[None, :, :3] - b[:, None, :3]
    s = b[None, :, 3] / ((d**2).sum(2) + 0.01)**1.5
    want = np.concatenate([(d * s[:, :, None]).sum(1), s.sum(1)[:, None]], axis=1)
    return [INT(n), body, np.zeros((n, 4), FLT)], {2: want}
