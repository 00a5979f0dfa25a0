"""How the kernels that share out steps of tiles (`sgemm_stream_k`, `dgemm_stream_k`) divide a product among their blocks.

Whole tiles come first, one for each block and wave, as long as a whole wave is left behind them; the steps of the remaining tiles are
shared out evenly. It is the arithmetic at the head of both kernels, in Python.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.model.inputs import whole

MOST = 2**31
FEWER_STEPS = 2            # a tile is cut in n parts only when it has at least so many steps for each of them
ROUNDS = (2, 3, 4, 8)      # blocks per tile of C that are tried where tiles are few


@dataclass(frozen=True)
class Sharing:
    """What a block gets.

    Attributes
    ----------
    tiles
        Of C.
    steps
        Of a tile: pieces of BK of the sum.
    blocks
        Of the launch.
    least, most
        Steps of the block that has the fewest, and of the one that has the most.
    parts
        Pieces of tiles that blocks work on: as many as there are tiles when no tile is cut.
    """

    tiles: int
    steps: int
    blocks: int
    least: int
    most: int
    parts: int

    @property
    def cut(self) -> bool:
        """Return whether the sums of some tile come from several blocks."""
        return self.parts > self.tiles


def sharing(M: int, N: int, K: int, tile: tuple[int, int, int], blocks: int) -> Sharing:
    """Return how C = A B is shared out.

    Parameters
    ----------
    M, N, K
        Rows and columns of C, and columns of A.
    tile
        BM, BN and BK.
    blocks
        Of the grid.

    Raises
    ------
    InputError, a ValueError
        On a value that is no whole number from 1 on.

    Source: `kernels/sgemm_stream_k.cu`, whose counts on the simulator its test compares.

    A product of 513 × 513 × 513 has 81 tiles of 64 × 64 with 33 steps each. 132 blocks get 20 or 21 of these steps, and of the 131 that
    follow the first one 126 begin inside a tile.

    >>> sharing(513, 513, 513, (64, 64, 16), 132)
    Sharing(tiles=81, steps=33, blocks=132, least=20, most=21, parts=207)
    """
    M, N, K, blocks = (whole(name, value, 1, MOST, "a product has from")
                       for name, value in (("M", M), ("N", N), ("K", K), ("blocks", blocks)))
    tiles, steps = -(-M // tile[0]) * -(-N // tile[1]), -(-K // tile[2])
    waves = max(tiles // blocks - 1, 0)
    units = (tiles - waves * blocks) * steps
    low, more = divmod(units, blocks)
    who = np.arange(1, blocks, dtype=np.int64)
    begins = low * who + np.minimum(more, who)          # where the share of each block but the first begins
    cuts = int(np.count_nonzero((begins % steps != 0) & (begins < units)))
    return Sharing(tiles, steps, blocks, waves * steps + low, waves * steps + low + (more > 0), tiles + cuts)


def block_counts(M: int, N: int, K: int, tile: tuple[int, int, int], resident: int, sms: int) -> tuple[int, ...]:
    """Return the numbers of blocks that are worth a try, ascending.

    One for each tile of C; a few for each tile, as long as all of them run at the same time; one for each multiprocessor, and as many as
    these hold, where there is enough to share out.

    Parameters
    ----------
    M, N, K, tile
        As for `sharing`.
    resident
        Blocks that a multiprocessor holds.
    sms
        Multiprocessors.

    >>> block_counts(256, 256, 256, (64, 64, 16), 4, 132), block_counts(4096, 4096, 64, (64, 64, 16), 4, 132)
    ((16, 32, 48, 64, 128), (132, 528, 4096))
    """
    tiles, steps = -(-M // tile[0]) * -(-N // tile[1]), -(-K // tile[2])
    slots = sms * resident
    counts = {tiles} | {tiles * n for n in ROUNDS if tiles * n <= slots and steps >= FEWER_STEPS * n}
    return tuple(sorted(counts | {n for n in (slots, sms) if tiles * steps >= 4 * n}))


def cost_terms(shared_out: Sharing, resident: int, sms: int) -> dict[str, float]:
    """Return what an estimate of the time is a sum of; the time of one of each is a matter of the tile, and is found by measuring.

    Parameters
    ----------
    shared_out
        Of the product.
    resident
        Blocks that a multiprocessor holds at a time.
    sms
        Multiprocessors.

    Returns
    -------
    "launch"
        1.
    "busy"
        Steps of the multiprocessor that has most.
    "alone"
        Steps that it makes one after another: those of blocks that it holds at the same time count once.
    "pieces"
        Pieces of tiles of that multiprocessor, each of which begins with empty stages and ends with stores.
    "joined"
        Pieces that a block adds up to a tile, one after another; 0 when no tile is cut.

    >>> {name: round(count, 1) for name, count in cost_terms(sharing(513, 513, 513, (64, 64, 16), 132), 4, 132).items()}
    {'launch': 1, 'busy': 21, 'alone': 21, 'pieces': 1.6, 'joined': 1.6}
    """
    most = -(-shared_out.blocks // sms)
    joined = shared_out.steps / max(1, shared_out.least) if shared_out.cut else 0.0
    return {"launch": 1, "busy": most * shared_out.most, "alone": -(-most // resident) * shared_out.most,
            "pieces": most * shared_out.parts / shared_out.blocks, "joined": joined}
