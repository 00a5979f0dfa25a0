"""Who computes what: the k-steps of all tiles shared out among blocks, and the blocks among multiprocessors.

The arithmetic of `sgemm_stream_k`. A product has tiles of C, and each tile takes as many k-steps as there are pieces of BK along K. A
*unit* is one k-step of one tile. With as many blocks as tiles every block computes a whole tile; with s times as many, s blocks share a
tile (split-K); with one block per multiprocessor the units are shared out without regard to where a tile ends (stream-K).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.model.inputs import whole


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
class Placed:
    """A piece on a multiprocessor, which begins it when `start` k-steps have passed."""

    piece: Piece
    multiprocessor: int
    start: int


def tile_place(tile: int, tiles_m: int, tiles_n: int) -> tuple[int, int]:
    """Return row and column of a tile by its number: bands of eight rows of tiles, each of them column by column.

    >>> [tile_place(tile, 2, 3) for tile in range(6)]
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    """
    band, within = tile // (8 * tiles_n) * 8, tile % (8 * tiles_n)
    high = min(8, tiles_m - band)
    return band + within % high, within // high


def share_begins(who: int, units: int, blocks: int) -> int:
    """Return the first unit of a block's share: shares differ by one unit at most, and the first blocks have the larger ones.

    >>> [share_begins(who, 10, 4) for who in range(5)]
    [0, 3, 6, 8, 10]
    """
    return units // blocks * who + min(units % blocks, who)


def pieces(tiles: int, steps: int, blocks: int) -> list[list[Piece]]:
    """Return what each block does, in its order, as `sgemm_stream_k` shares it out.

    As long as there are two tiles or more for every block, each block takes a whole one. The units of the remaining tiles are shared out
    evenly, and a block goes through its share from the end to the beginning: what it leaves to a later block it computes first.

    Parameters
    ----------
    tiles
        Of C.
    steps
        k-steps of each tile.
    blocks
        Of the grid.

    >>> [[(p.tile, p.first, p.last) for p in block] for block in pieces(2, 3, 4)]
    [[(0, 0, 2)], [(1, 0, 1), (0, 2, 3)], [(1, 1, 2)], [(1, 2, 3)]]
    """
    for name, value in (("tiles", tiles), ("steps", steps), ("blocks", blocks)):
        whole(name, value, 1, 1 << 24, "a count is")
    waves = max(tiles // blocks - 1, 0)
    units = (tiles - waves * blocks) * steps
    found = []
    for block in range(blocks):
        mine = [Piece(block, wave * blocks + block, 0, steps) for wave in range(waves)]
        begin, end = share_begins(block, units, blocks), share_begins(block + 1, units, blocks)
        while begin < end:
            tile = (end - 1) // steps
            first = max(begin - tile * steps, 0)
            mine.append(Piece(block, waves * blocks + tile, first, end - tile * steps))
            end = tile * steps + first
        found.append(mine)
    return found


def dispatch(shared: Sequence[Sequence[Piece]], multiprocessors: int) -> list[Placed]:
    """Return when and where every piece is computed, in order of blocks, on a simple model of a GPU.

    A multiprocessor has one block at a time. Blocks start in the order of their numbers, each on the multiprocessor that is free first, and
    every k-step takes as long as every other; waiting for a partial sum and adding it take no time.
    """
    free = [0] * multiprocessors
    found = []
    for block in shared:
        where = min(range(multiprocessors), key=free.__getitem__)
        for piece in block:
            found.append(Placed(piece, where, free[where]))
            free[where] += piece.steps
    return found


@dataclass(frozen=True)
class Balance:
    """How evenly the work is spread.

    Attributes
    ----------
    busiest, mean
        k-steps of the busiest multiprocessor, and of one if all had the same.
    left
        Partial sums of a tile that a block leaves in global memory for another one.
    """

    busiest: int
    mean: float
    left: int

    @property
    def ratio(self) -> float:
        """Return the busiest multiprocessor's k-steps over the mean: 1 is perfect."""
        return self.busiest / self.mean

    @property
    def idle(self) -> float:
        """Return the share of the multiprocessors' time in which they have nothing to do, 0 to 1, until the busiest is done."""
        return 1 - self.mean / self.busiest


def balance_of(shared: Sequence[Sequence[Piece]], steps: int, multiprocessors: int) -> Balance:
    """Return how evenly pieces are spread over the multiprocessors, and how many partial sums are left.

    >>> balance_of(pieces(25, 65, 25), 65, 132).idle > 0.8, balance_of(pieces(25, 65, 132), 65, 132)
    (True, Balance(busiest=13, mean=12.31060606060606, left=122))
    """
    loads = [0] * multiprocessors
    for placed in dispatch(shared, multiprocessors):
        loads[placed.multiprocessor] += placed.piece.steps
    left = sum(piece.last < steps for block in shared for piece in block)
    return Balance(max(loads), sum(loads) / multiprocessors, left)
