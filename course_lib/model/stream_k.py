"""Who computes which k-steps: how `sgemm_stream_k` and `dgemm_stream_k` share out a product among their blocks.

It is the arithmetic at the head of both kernels, in their terms. A product has tiles of C, and each tile takes as many k-steps as there are
pieces of BK along K. A *unit* is one k-step of one tile. With as many blocks as tiles every block computes a whole tile; with any other
number the units are shared out without regard to where a tile ends (stream-K). Split-K, which cuts each tile by itself, is what both do
only where s times as many blocks as tiles can share a tile's steps evenly; `split_k` says what it is anywhere. What the multiprocessors
make of it is the subject of `model.busiest_work`.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from course_lib.model.inputs import whole

MOST = {"tiles": 2**53, "steps": 2**31, "blocks": 2**31}
FEWER_STEPS = 2            # a tile is cut in n pieces only when it has at least so many steps for each of them
ROUNDS = (2, 3, 4, 8)      # blocks per tile of C that are tried where tiles are few
BAND = 8                   # rows of tiles whose tiles are numbered column by column


@dataclass(frozen=True)
class Piece:
    """What a block does in one go: the k-steps first <= s < last of a tile."""

    block: int
    tile: int
    first: int
    last: int

    @property
    def steps(self) -> int:
        """Return how many k-steps these are."""
        return self.last - self.first


@dataclass(frozen=True)
class Sharing:
    """How the k-steps of all tiles are shared out among the blocks of a launch.

    As long as there are two tiles or more for every block, each block takes a whole one. The units of the remaining tiles are shared out
    evenly, and a block goes through its share from the end to the beginning: what it leaves to a later block it computes first.

    Attributes
    ----------
    tiles
        Of C.
    steps
        k-steps of each tile.
    blocks
        Of the grid.

    Raises
    ------
    InputError, a ValueError
        On a value that is no whole number from 1 on.

    Source: the texts of both kernels; its test compares it with what each block does in the simulator.

    Five tiles of four k-steps for three blocks: the first two blocks have seven k-steps, and two blocks end in the middle of a tile.

    >>> found = Sharing(5, 4, 3)
    >>> found.waves, found.least, found.most, found.pieces, found.partial
    (0, 6, 7, 7, 2)
    >>> [(p.tile, p.first, p.last) for p in found.by_block[0]]
    [(1, 0, 3), (0, 0, 4)]
    """

    tiles: int
    steps: int
    blocks: int

    def __post_init__(self) -> None:
        """Refuse what is no launch."""
        for name, most in MOST.items():
            whole(name, getattr(self, name), 1, most, "a launch has from")

    @property
    def waves(self) -> int:
        """Return how many whole tiles each block computes before its share."""
        return max(self.tiles // self.blocks - 1, 0)

    @property
    def units(self) -> int:
        """Return how many units the tiles have that are shared out."""
        return (self.tiles - self.waves * self.blocks) * self.steps

    @property
    def least(self) -> int:
        """Return the k-steps of the block that has the fewest."""
        return self.waves * self.steps + self.units // self.blocks

    @property
    def most(self) -> int:
        """Return the k-steps of the block that has the most: one more at most."""
        return self.least + (self.units % self.blocks > 0)

    @cached_property
    def pieces_of_blocks(self) -> NDArray[np.int64]:
        """Return how many tiles and parts of tiles each block computes, one after another."""
        begin, end = self._shares
        return self.waves + np.where(end > begin, -(-end // self.steps) - begin // self.steps, 0)

    @property
    def pieces(self) -> int:
        """Return how many pieces all blocks compute: as many as there are tiles when no tile is cut."""
        return int(self.pieces_of_blocks.sum())

    @property
    def partial(self) -> int:
        """Return how many blocks leave partial sums to a later block, each of them one tile of sums."""
        begin, end = self._shares
        return int(np.count_nonzero((end > begin) & (end % self.steps > 0)))

    @property
    def groups(self) -> tuple[tuple[int, float], ...]:
        """Return (blocks, k-steps of each of them), most k-steps first."""
        more = self.units % self.blocks
        return tuple((count, float(steps)) for count, steps in ((more, self.most), (self.blocks - more, self.least)) if count)

    @cached_property
    def by_block(self) -> list[list[Piece]]:
        """Return the pieces of each block, in its order."""
        shares = pairwise(share_begins(self.units, self.blocks).tolist())
        return [self._pieces_of(block, begin, end) for block, (begin, end) in enumerate(shares)]

    @cached_property
    def _shares(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the share of each block begins and ends."""
        begins = share_begins(self.units, self.blocks)
        return begins[:-1], begins[1:]

    def _pieces_of(self, block: int, begin: int, end: int) -> list[Piece]:
        found = [Piece(block, wave * self.blocks + block, 0, self.steps) for wave in range(self.waves)]
        while begin < end:
            tile = (end - 1) // self.steps
            first = max(begin - tile * self.steps, 0)
            found.append(Piece(block, self.waves * self.blocks + tile, first, end - tile * self.steps))
            end = tile * self.steps + first
        return found


def split_k(tiles: int, steps: int, split: int) -> list[list[Piece]]:
    """Return the pieces of each block when `split` blocks share the k-steps of each tile: shares of a tile differ by one step at most.

    Two tiles of five k-steps for two blocks each; the first of these leaves its sums to the second.

    >>> [(p.tile, p.first, p.last) for block in split_k(2, 5, 2) for p in block]
    [(0, 0, 3), (0, 3, 5), (1, 0, 3), (1, 3, 5)]
    """
    shares = list(pairwise(share_begins(steps, split).tolist()))
    return [[Piece(tile * split + part, tile, first, last)] if first < last else []
            for tile in range(tiles) for part, (first, last) in enumerate(shares)]


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
        As `Sharing`.

    A product of 513 × 513 × 513 has 81 tiles of 64 × 64 with 33 k-steps each. 132 blocks get 20 or 21 of these k-steps, and of the 131 that
    follow the first one 126 begin inside a tile.

    >>> found = sharing(513, 513, 513, (64, 64, 16), 132)
    >>> found, found.least, found.most, found.pieces - found.tiles
    (Sharing(tiles=81, steps=33, blocks=132), 20, 21, 126)
    """
    return Sharing(*_tiles_and_steps(M, N, K, tile), blocks)


def share_begins(units: int, blocks: int) -> NDArray[np.int64]:
    """Return the first unit of each block's share, and the end: shares differ by one unit at most, and the first blocks have the larger.

    >>> share_begins(10, 4).tolist()
    [0, 3, 6, 8, 10]
    """
    who = np.arange(blocks + 1, dtype=np.int64)
    return units // blocks * who + np.minimum(units % blocks, who)


def tile_place(tile: int, tiles_m: int, tiles_n: int) -> tuple[int, int]:
    """Return row and column of a tile by its number: bands of eight rows of tiles, each of them column by column.

    >>> [tile_place(tile, 2, 3) for tile in range(6)]
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    """
    band, within = tile // (BAND * tiles_n) * BAND, tile % (BAND * tiles_n)
    high = min(BAND, tiles_m - band)
    return band + within % high, within // high


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
    tiles, steps = _tiles_and_steps(M, N, K, tile)
    slots = sms * resident
    counts = {tiles} | {tiles * n for n in ROUNDS if tiles * n <= slots and steps >= FEWER_STEPS * n}
    return tuple(sorted(counts | {n for n in (slots, sms) if tiles * steps >= 4 * n}))


def _tiles_and_steps(M: int, N: int, K: int, tile: tuple[int, int, int]) -> tuple[int, int]:
    return -(-M // tile[0]) * -(-N // tile[1]), max(-(-K // tile[2]), 1)
