"""Clusters of blocks: what they must compute is the manual's, and where that is silent, what an H200 did."""

import numpy as np

from hardware_catalog.cases import case, read_only

INT, FLT = np.int32, np.float32


@case((4, 4), 32)
def cluster_ranks(rng):
    """A guess: ranks count along x first. The bits of an address are ptxas's."""
    want = np.zeros((4, 4, 12), np.uint32)
    for y, x in np.ndindex(4, 4):
        rank = x % 2 + 2 * (y % 2)
        want[y, x] = [x // 2, y // 2, 2, 2, x % 2, y % 2, 2, 4, rank, 3 << 24 | 1036, rank, rank << 24 | 1036]
    return [np.zeros(192, np.uint32)], {0: want.ravel()}


@case(8, 128)
def cluster_halo(rng):
    x = rng.integers(-100, 100, 1024).astype(FLT)
    rings = x.reshape(2, 512)
    return [read_only(x), np.zeros_like(x)], {1: (np.roll(rings, 1, 1) + 2 * rings + np.roll(rings, -1, 1)).ravel()}


@case(8, 128)
def cluster_histogram(rng):
    x = rng.integers(0, 512, 5000).astype(INT)
    return [INT(len(x)), read_only(x), np.zeros(512, INT)], {2: np.bincount(x, minlength=512).astype(INT)}


@case(2, 32)
def cluster_atomics(rng):
    """A guess: subnormal sums survive, as in the block's own shared memory."""
    t = np.arange(32)
    box = [100 + t.sum(), 310, 102 & np.bitwise_and.reduce(t + 70), 103 | np.bitwise_or.reduce(t << 8), 104 ^ np.bitwise_xor.reduce(t * t)]
    count = 105
    for _ in t:
        count = 0 if count >= 110 else count + 1
    old = np.zeros(32, np.uint32)
    old[[5, 6]] = 106, 107
    return [np.zeros(88, np.uint32)], {0: np.tile(np.array([*box, count, 77, 88, 0x00300000, 109, 110, 111, *old], np.uint32), 2)}


@case(4, 64)
def cluster_arrive(rng):
    left = (np.arange(4)[:, None, None] - 1) % 4
    return [np.zeros((4, 3, 64), INT)], {0: (1000 * np.arange(1, 4)[None, :, None] + 100 * left + np.arange(64)).astype(INT)}
