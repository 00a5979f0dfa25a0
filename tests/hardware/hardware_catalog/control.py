"""Branches, loops, calls, and other threads of control."""

import zlib

import numpy as np

from hardware_catalog.cases import case, floats, read_only, whole

INT, FLT = np.int32, np.float32


@case((4, 5), (16, 8))
def mandelbrot(rng):
    width, height, most, step = 60, 40, 50, 0.05
    c = -2.1 + step * np.arange(width)[None] + 1j * (-1.013 + step * np.arange(height)[:, None])
    z, steps = np.zeros_like(c), np.zeros(c.shape, INT)
    alive = np.ones(c.shape, bool)
    for _ in range(most):
        alive &= ~(z.real**2 + z.imag**2 > 4.0)
        steps += alive
        z = np.where(alive, z * z + c, z)
    return [INT(width), INT(height), INT(most), np.float64(step), np.zeros((height, width), INT)], {4: steps}


@case(2, 100)
def collatz(rng):
    n = 190
    steps, highest = np.zeros(n, INT), np.zeros(n, np.uint64)
    for i in range(n):
        v = top = i + 1
        while v != 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            steps[i] += 1
            top = max(top, v)
        highest[i] = top
    return [INT(n), np.zeros_like(steps), np.zeros_like(highest)], {1: steps, 2: highest}


@case(2, 64)
def philox(rng):
    n, keys = 120, (0xDEADBEEF, 0x12345678)
    out = np.zeros((n, 4), np.uint32)
    for i in range(n):
        c, key = [i, 0, 0x1234, 0x5678], list(keys)
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ key[1], a & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        out[i] = c
    return [INT(n), *map(np.uint32, keys), np.zeros_like(out)], {3: out}


@case(3, 96)
def lcg_circle(rng):
    n, hits = 288, 0
    state = (np.uint64(77) + np.arange(n, dtype=np.uint64) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)

    def step(s):
        return (s * np.uint64(1664525) + np.uint64(1013904223)) & np.uint64(0xFFFFFFFF)
    for _ in range(20):
        x = step(state)
        state = step(x)
        hits += int(((x >> np.uint64(17))**2 + (state >> np.uint64(17))**2 < 32768**2).sum())
    return [np.uint32(77), np.zeros(1, INT), np.zeros(n, np.uint32)], {1: np.array([hits], INT), 2: state.astype(np.uint32)}


@case(2, 64)
def crc32(rng):
    rows, pitch = 100, 24
    length, data = whole(rng, 0, pitch + 1, rows), whole(rng, 0, 256, rows, pitch, dtype=np.uint8)
    want = np.array([zlib.crc32(row[:k].tobytes()) for row, k in zip(data, length)], np.uint32)
    return [INT(rows), INT(pitch), length, data, np.zeros(rows, np.uint32)], {4: want}


@case(3, 64)
def branches(rng):
    n = 170
    x = whole(rng, 0, 100, n)
    y = np.append(rng.integers(-50, 50, n), np.zeros(n)).astype(INT)
    want = y.copy()
    for i, v in enumerate(map(int, x)):
        r = 0
        if v & 1:
            r = sum(int(x[(i + k) % n]) for k in range(v & 7)) if v & 2 else int(y[i]) * 3
            r ^= v
        elif v % 3 == 0:
            r = int(x[i * 7 % n]) if v > 50 else -int(y[i * 5 % n])
        else:
            k = v
            while True:
                r = r * 2 + k
                k -= 9
                if k <= 0:
                    break
        want[n + i] = r
    return [INT(n), x, y], {2: want}


@case(2, 100)
def early_return(rng):
    n = 150
    x, y = whole(rng, -10, 60, n), np.full(200, 7, INT)
    want = y.copy()
    for i, last in enumerate(x):
        if last >= 0:
            total = np.cumsum(np.arange(1, last + 1)**2)
            over = np.flatnonzero(total > 5000)
            want[i] = -total[over[0]] if over.size else total[-1] if last else 0
    return [INT(n), x, y], {2: want}


@case(2, 64)
def switch_cases(rng):
    n = 100
    code, out = whole(rng, 0, 11, n, 8, dtype=np.uint8), np.zeros((2, n), INT)
    want = out.copy()

    def cut(v):
        return (v + 2**31) % 2**32 - 2**31
    for i in range(n):
        a, b = i, 1
        for op in map(int, code[i]):
            if op == 10:
                break
            a, b = {0: (a + b, b), 1: (a - b * 3, b), 2: (a * (b | 1), b), 3: (a, a >> 2), 4: (b, a), 5: (a, b ^ a),
                    6: (bin(a & 0xFFFFFFFF).count("1") + b, b), 7: (~a, b + 17), 8: (~a, b), 9: (a, b)}[op]
            a, b = cut(a), cut(b)
            if op == 9:
                want[1, i] = a
        want[0, i] = cut(a * 31 + b)
    return [INT(n), code, out], {2: want}


@case(2, 64)
def binary_search(rng):
    values = np.sort(rng.standard_normal(200).astype(FLT))
    keys = read_only(np.append(rng.standard_normal(60).astype(FLT), values[::5]))
    return ([INT(200), read_only(values), INT(keys.size), keys, np.zeros(keys.size, INT)],
            {4: np.searchsorted(values, keys)})


@case(2, 64, tolerance=1e-6)
def device_functions(rng):
    n = 100
    x = floats(rng, n, 3)
    a, b = x.astype(float), x[::-1].astype(float)
    c = np.cross(a, b)
    sign = np.where(np.arange(n) & 1, 1, -1)
    half = np.where(np.arange(n) >> 1 & 1, 1, -1)
    want = np.append((a * b).sum(1) + sign * c[:, 0], 1 + half * c[:, 1] * c[:, 2])
    return [INT(n), x, np.ones(2 * n, FLT)], {2: want}


@case(1, 40)
def recursion(rng):
    n, numbers = 36, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    want = np.append([numbers[i % 12] for i in range(n)], [2 * (i % 4) + 3 for i in range(n)])
    return [INT(n), np.zeros(2 * n, INT)], {1: want}


@case(1, 64)
def function_pointers(rng):
    n = 60
    which, a, b = whole(rng, 0, 4, n), whole(rng, -99, 99, n), whole(rng, -99, 99, n)
    called = np.choose(which, [a + b, a - b, a * b, np.maximum(a, b)])
    return [INT(n), which, a, b, np.zeros(n, INT)], {4: called + np.where(np.arange(n) % 2, 2 * b, a * a)}


@case(2, 64)
def clocks(rng):
    x = whole(rng, -1000, 1000, 128)
    v = x.astype(np.uint32)
    for _ in range(20):
        v = v * np.uint32(1664525) + np.uint32(1013904223)
    return [x, np.zeros(128, INT), np.zeros(128, INT)], {1: np.ones(128, INT), 2: v.astype(INT)}


@case(1, 32)
def prints(rng):
    x = whole(rng, 0, 100, 32)
    return [x, np.zeros(32, INT)], {1: 2 * x}
