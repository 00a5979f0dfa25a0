"""Every address of a whole launch of the course's kernels, enumerated in NumPy from what the kernels say they do.

Addresses are (accesses, 32) arrays of byte offsets, one row for each warp instruction; arrays begin at multiples of 256.
"""

import numpy as np

SECTOR, BANKS, WORD = 32, 32, 4


def threads(grid, block):
    """Return tx, ty, bx, by, exists as (warps of the whole grid, 32) arrays."""
    size = block[0] * block[1]
    lanes = np.arange(-(-size // 32) * 32)
    y, x = np.mgrid[:grid[1], :grid[0]]
    blocks = [b.reshape(-1, 1) + 0 * lanes for b in (x, y)]
    tx, ty, exists = (0 * blocks[0] + v for v in (lanes % block[0], lanes // block[0], lanes < size))
    return [a.reshape(-1, 32) for a in (tx, ty, *blocks, exists.astype(bool))]


class Counts:
    """Adds up requests and sectors of global, instructions and wavefronts of shared memory."""

    def __init__(self):
        self.total = {f"{what} {op}": 0 for what in ("requests", "sectors", "executed", "wavefronts", "conflicts") for op in ("ld", "st")}

    def add(self, what, op, amount):
        self.total[f"{what} {op}"] += int(amount)

    def use_global(self, op, addresses, active):
        """Distinct sectors in each row, over its active lanes."""
        numbers = np.sort(np.where(active, addresses // SECTOR, -1), axis=1)
        fresh = np.diff(numbers, axis=1, prepend=-1) != 0
        self.add("sectors", op, (fresh & (numbers >= 0)).sum())
        self.add("requests", op, active.any(axis=1).sum())

    def use_shared(self, op, addresses, active, width):
        """Words of a bank, one after another, in phases of 128 bytes; loads of equal lanes share a phase."""
        rows = active.any(axis=1)
        addresses, active = addresses[rows], active[rows]
        self.add("executed", op, len(addresses))
        for lanes, on in zip(addresses, active):
            self.add_row(op, lanes, on, width)

    def add_row(self, op, lanes, on, width):
        phase = {4: 32, 8: 16, 16: 8}[width]
        every = np.arange(32)
        same = [all(lanes[a] == lanes[a ^ d] for a in every if on[a] and on[a ^ d]) for d in (1, 2)]
        if op == "ld" and width > 4 and any(same):
            phase *= 2
        for first in range(0, 32, phase):
            part = lanes[first:first + phase][on[first:first + phase]]
            if len(part):
                words = np.unique(part[:, None] // WORD + np.arange(width // WORD))
                deepest = np.bincount(words % BANKS).max()
                self.add("wavefronts", op, deepest)
                self.add("conflicts", op, deepest - 1)


def direct(kernel, grid, block, M, N, K, lda, ldb, ldc, beta):
    """sgemm_naive, sgemm_swapped: one thread an element, everything from global memory."""
    tx, ty, bx, by, exists = threads(grid, block)
    along_x, along_y = bx * block[0] + tx, by * block[1] + ty
    row, col = (along_x, along_y) if kernel == "sgemm_swapped" else (along_y, along_x)
    inside = exists & (row < M) & (col < N)
    counts = Counts()
    for k in range(K):
        counts.use_global("ld", 4 * (row * lda + k), inside)
        counts.use_global("ld", 4 * (k * ldb + col), inside)
    finish(counts, 4 * (row * ldc + col), inside, beta)
    return counts.total, int(inside.sum()) * (K + 1)


def tiled(grid, M, N, K, lda, ldb, ldc, beta, BM, BN, BK, offsets):
    """sgemm_tiled; `offsets` are those of As and Bs in shared memory."""
    tx, ty, bx, by, exists = threads(grid, (BN, BM))
    row, col = by * BM + ty, bx * BN + tx
    counts = Counts()
    wide = joined(BK, offsets["As"])
    for k0 in range(0, K, BK):
        for j in range(0, BK, BN):
            k = j + tx
            stored = exists & (k < BK)
            counts.use_global("ld", 4 * (row * lda + k0 + k), stored & (row < M) & (k0 + k < K))
            counts.use_shared("st", offsets["As"] + 4 * (ty * BK + k), stored, 4)
        for i in range(0, BK, BM):
            k = i + ty
            stored = exists & (k < BK)
            counts.use_global("ld", 4 * ((k0 + k) * ldb + col), stored & (k0 + k < K) & (col < N))
            counts.use_shared("st", offsets["Bs"] + 4 * (k * BN + tx), stored, 4)
        for k in range(0, BK, wide):
            counts.use_shared("ld", offsets["As"] + 4 * (ty * BK + k), exists, 4 * wide)
        for k in range(BK):
            counts.use_shared("ld", offsets["Bs"] + 4 * (k * BN + tx), exists, 4)
    inside = exists & (row < M) & (col < N)
    finish(counts, 4 * (row * ldc + col), inside, beta)
    steps = -(-K // BK)
    return counts.total, int(exists.sum()) * steps * BK + int(inside.sum())


def joined(BK, offset):
    """Elements of a row of As that the assembler loads at once: as many as stay aligned in every row."""
    return next(n for n in (4, 2, 1) if BK % n == 0 and offset % (4 * n) == 0)


def finish(counts, addresses, inside, beta):
    if beta != 0:
        counts.use_global("ld", addresses, inside)
    counts.use_global("st", addresses, inside)
