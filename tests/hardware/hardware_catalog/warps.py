"""What lanes tell each other, and atomics."""

import numpy as np

from hardware_catalog.cases import case, floats, read_only, whole

INT, FLT = np.int32, np.float32
LANES = np.arange(32)


@case(2, 96, tolerance=1e-6)
def reduce_shuffle(rng):
    x, y = floats(rng, 192), whole(rng, -(1 << 40), 1 << 40, 192, dtype=np.int64)
    w = y.reshape(6, 32).copy()
    w = w + w[:, np.where(LANES % 8 + 3 < 8, LANES + 3, LANES)]
    w = w ^ w[:, np.where(LANES % 16 >= 5, LANES - 5, LANES)]
    w = w - w[:, LANES * 7 % 32]
    return [x, y, np.zeros(6, FLT), np.zeros(192, np.int64)], {2: x.reshape(6, 32).sum(1, dtype=float), 3: w.ravel()}


@case(2, 64)
def warp_votes(rng):
    n = 128
    keys = rng.integers(0, 6, n).astype(INT)
    keys[64:96] = 50
    keys[96:] = rng.integers(-70, 300, 32)
    rows = []
    for warp in keys.reshape(-1, 32):
        u = warp.astype(np.uint32)

        def ballot(bits):
            return int((np.asarray(bits).astype(np.uint64) << LANES.astype(np.uint64)).sum())
        full = 0xFFFFFFFF
        quotient = np.sign(warp) * (abs(warp) // 1000)
        same = len(set(quotient.tolist())) == 1
        uniform = len({bool(k & 64) for k in warp.tolist()}) == 1
        part = np.where(warp & 2, ballot((warp & 2 > 0) & (warp & 1)) ^ int((warp & 2 > 0).sum()), 7)
        columns = [ballot(warp & 1), int((warp == 3).any()), int((warp < 100).all()), int(uniform),
                   [ballot(warp == k) for k in warp], full if same else 0, int(same),
                   int(u.sum(dtype=np.uint64)) & full, int(warp.min()) & full, int(u.max()), int(np.bitwise_and.reduce(u)),
                   int(np.bitwise_or.reduce(u)), int(np.bitwise_xor.reduce(u)), part]
        rows.append([np.broadcast_to(np.asarray(c, np.uint64), 32).astype(np.uint32) for c in columns])
    return [INT(n), read_only(keys), np.zeros((14, n), np.uint32)], {2: np.concatenate(rows, axis=1)}


@case(4, 64)
def atomics_global(rng):
    n = 256
    x = whole(rng, -(1 << 20), 1 << 20, n)
    cells = np.array([5, 5, 0, 0, -1, 0, 0, 3, 30, 0, 0], INT)
    wide, f, d = np.zeros(2, np.uint64), np.zeros(4, FLT), np.zeros(2)
    v = x.astype(np.int64)
    up, down = 3, 30
    for _ in range(n):
        up = 0 if up >= 50 else up + 1
        down = 77 if down == 0 or down > 77 else down - 1
    want = np.array([5 + v.sum(), 5 - v.sum(), min(0, v.min()), max(0, v.max()), np.bitwise_and.reduce(x | 0xFF00),
                     np.bitwise_or.reduce(x & 0xFFFF), np.bitwise_xor.reduce(x), up, down, n, ((v & 1) + 1).sum()]).astype(INT)
    wides = np.array([v.astype(np.uint64).sum(), (x.astype(np.uint32).astype(np.uint64) << np.uint64(20)).max()], np.uint64)
    sums = FLT([(x & 15)[x & 3 == k].sum() for k in range(4)]), np.array([v[x & 1 == k].sum() for k in range(2)], float)
    claimed = np.append(np.ones(n, INT), x)
    return [x, cells, wide, f, d, np.zeros(2 * n, INT), INT(n)], {1: want, 2: wides, 3: sums[0], 4: sums[1], 5: claimed}


@case(3, 128)
def histogram(rng):
    n, shift = 1000, 11
    keys = read_only((rng.integers(0, 1 << 17, n) & rng.integers(0, 1 << 17, n)).astype(np.uint32))
    return ([INT(n), INT(shift), keys, np.zeros(64, INT)],
            {3: np.bincount(keys >> shift & 63, minlength=64)})


@case(5, 64)
def last_block(rng):
    x = whole(rng, -1000, 1000, 900)
    part = np.array([sum(x[i:i + 64].sum() for i in range(b * 64, 900, 320)) for b in range(5)])
    return [INT(900), x, np.zeros(5, INT), np.zeros(1, INT)], {2: part, 3: np.array([x.sum()])}


@case(4, 160)
def scan_warps(rng):
    x = whole(rng, -(1 << 40), 1 << 40, 640, dtype=np.int64)
    return [x, np.zeros(640, np.int64)], {1: x.reshape(4, 160).cumsum(1).ravel()}


@case(2, 64)
def radix_split(rng):
    x = whole(rng, 0, 256, 128, dtype=np.uint8)
    return [x, np.zeros(128, np.uint8)], {1: np.sort(x.reshape(2, 64), axis=1).ravel()}


@case(2, 64)
def groups(rng):
    n = 128
    x = whole(rng, 0, 100, n)
    eight, sixteen = x.reshape(-1, 8), x.reshape(-1, 16)
    want = [np.repeat(eight.sum(1), 8), sixteen.cumsum(1).ravel(), (eight[:, ::-1] + (eight > 90).any(1)[:, None]).ravel()]
    return [INT(n), x, np.zeros((3, n), INT), np.zeros(1, INT)], {2: np.array(want), 3: np.array([(x & 1).sum()])}
