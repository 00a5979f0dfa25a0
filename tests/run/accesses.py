"""What the three kernels ask memory for, worked out from their text alone with NumPy: the simulator is held to this.

An access is (kind, address of each lane in bytes, active lanes). Arrays begin at multiples of 256 bytes, so an
address may be counted from the start of its array.
"""

import numpy as np

LANES = 32


def warps(block, grid):
    """Yield (block x, block y, thread x, thread y, exists) for every warp, 32 lanes each."""
    bx, by, _ = block
    size = -(-bx * by // LANES) * LANES
    thread = np.arange(size).reshape(-1, LANES)
    for gy in range(grid[1]):
        for gx in range(grid[0]):
            for lanes in thread:
                yield gx, gy, lanes % bx, lanes // bx, lanes < bx * by


def direct(name, block, grid, M, N, K, lda, ldb, ldc, beta):
    """Yield the global accesses of sgemm_naive or sgemm_swapped."""
    for gx, gy, tx, ty, exists in warps(block, grid):
        x, y = gx * block[0] + tx, gy * block[1] + ty
        row, col = (x, y) if name == "sgemm_swapped" else (y, x)
        active = exists & (row < M) & (col < N)
        for k in range(K):
            yield "load", 4 * (row * lda + k), active
            yield "load", 4 * (k * ldb + col), active
        yield from answer(row, col, ldc, active, beta)


def tiled(BM, BN, BK, grid, M, N, K, lda, ldb, ldc, beta):
    """Yield the global accesses of sgemm_tiled, and its shared stores with As at 0 and Bs behind it."""
    bs = 4 * BM * BK
    for gx, gy, tx, ty, exists in warps((BN, BM, 1), grid):
        row, col = gy * BM + ty, gx * BN + tx
        for k0 in range(0, K, BK):
            for j in range(0, BK, BN):
                k = j + tx
                inside = exists & (k < BK)
                yield "load", 4 * (row * lda + k0 + k), inside & (row < M) & (k0 + k < K)
                yield "shared store", 4 * (ty * BK + k), inside
            for i in range(0, BK, BM):
                k = i + ty
                inside = exists & (k < BK)
                yield "load", 4 * ((k0 + k) * ldb + col), inside & (k0 + k < K) & (col < N)
                yield "shared store", bs + 4 * (k * BN + tx), inside
        yield from answer(row, col, ldc, exists & (row < M) & (col < N), beta)


def answer(row, col, ldc, active, beta):
    """Yield the accesses to C."""
    if beta != 0:
        yield "load", 4 * (row * ldc + col), active
    yield "store", 4 * (row * ldc + col), active
