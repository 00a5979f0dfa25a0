"""mbarriers and bulk copies."""

import numpy as np

from hardware_catalog.cases import case, read_only, whole

INT, FLT = np.int32, np.float32


@case(2, 96)
def bulk_stages(rng):
    tiles = 7
    x = whole(rng, -1000, 1000, 2 * tiles, 128, dtype=INT)
    return [INT(tiles), x, np.zeros((2 * tiles, 128), INT)], {2: 3 * x[:, ::-1]}


@case(2, 64)
def bulk_add(rng):
    """Subnormal sums stay, unlike those of red.add.f32 in global memory."""
    tiles = 5
    x = rng.standard_normal((2 * tiles, 128)).astype(FLT)
    z = rng.standard_normal((2 * tiles, 128)).astype(FLT)
    x[:, :4], z[:, :4] = FLT(3e-39), FLT(1e-39)
    return [INT(tiles), read_only(x), np.zeros_like(x), z.copy()], {2: 2 * x, 3: 2 * x + z}


@case(1, 1)
def mbarrier_phases(rng):
    """The last number: expected bytes complete a phase whose bytes came first."""
    return [np.full(18, 9, np.uint32)], {0: np.array([0, 1, 5, 0, 3, 0, 0, 1, 1, 0, 5, 3, 1, 3, 0, 1, 0, 1], np.uint32)}


@case(1, 32)
def elect_lanes(rng):
    """The lowest lane of the mask is elected."""
    masks = np.array([0xFFFFFFFF, 0xFFFF0000, 0x80000000, 0x00F0F000, 0xAAAAAAAA], np.uint32)
    want = np.zeros((len(masks), 32), np.uint32)
    for row, mask in zip(want, masks):
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        row[lanes] = 2 * lanes[0]
        row[lanes[0]] += 1
    return [INT(len(masks)), read_only(masks), np.zeros_like(want)], {2: want}
