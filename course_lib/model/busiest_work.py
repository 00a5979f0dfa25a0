"""What the busiest multiprocessor does: at least, whoever gives blocks to multiprocessors; in order of blocks; and as terms of an estimate.

Which block computes which k-steps of a product is said by `model.stream_k`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.model.inputs import InputError, whole
from course_lib.model.stream_k import Piece, Sharing
from course_lib.model.waves import MOST

Units = tuple[tuple[int, float], ...]          # blocks, and the work of each of them, in any unit


def busiest_work(units: Sequence[tuple[int, float]], places: int) -> float:
    """Return the work that the place with most of it has at least, however blocks are given to places.

    Of k places + 1 blocks some place has k + 1, so that it has at least the k + 1 smallest of them: the largest such sum, or the mean.

    Parameters
    ----------
    units
        (blocks, work of each of them), in any unit.
    places
        Multiprocessors, or the places for blocks that all of them have together: a block keeps its place to its end.

    Returns
    -------
    Work in the same unit. Equal blocks: `ceil(blocks / places)` times the work of one.

    Raises
    ------
    InputError, a ValueError
        Without a block or a place, or when a work is negative or no number.

    Source: counting (the pigeonhole principle); CUDA C++ Programming Guide (13.0, 2025), "Hardware Implementation", for what a block keeps.

    >>> busiest_work([(289, 1.0)], 132), busiest_work([(1, 65.0), (131, 64.0)], 132), busiest_work([(1, 3.0), (2, 2.0)], 2)
    (3.0, 65.0, 4.0)
    """
    whole("places", places, 1, MOST, "a device has from")
    counts = [whole("blocks", count, 1, MOST, "a launch has from") for count, _ in units]
    if not counts or not all(work >= 0 and math.isfinite(work) for _, work in units):
        raise InputError(f"units are {units!r}, but they are blocks, at least one, with finite work from 0 up")
    if len(units) == 1:
        return math.ceil(counts[0] / places) * float(units[0][1])
    work = np.sort(np.repeat([float(work) for _, work in units], counts))[::-1]
    upto = np.concatenate([[0.0], np.cumsum(work)])
    turns = range(math.ceil(len(work) / places))
    return float(max(upto[-1] / places, *(upto[k * places + 1] - upto[k * (places - 1)] for k in turns)))


@dataclass(frozen=True)
class Placed:
    """A piece on a multiprocessor, which begins it when `start` k-steps have passed."""

    piece: Piece
    multiprocessor: int
    start: int


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

    >>> balance_of(Sharing(25, 65, 25).by_block, 65, 132).idle > 0.8, balance_of(Sharing(25, 65, 132).by_block, 65, 132)
    (True, Balance(busiest=13, mean=12.31060606060606, left=122))
    """
    loads = [0] * multiprocessors
    for placed in dispatch(shared, multiprocessors):
        loads[placed.multiprocessor] += placed.piece.steps
    left = sum(piece.last < steps for block in shared for piece in block)
    return Balance(max(loads), sum(loads) / multiprocessors, left)


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
    "pieces alone"
        Those that it makes one after another, as with steps: what blocks that it holds at the same time wait for, they wait for together.
    "joined"
        Pieces that a block adds up to a tile, one after another; 0 when no tile is cut.

    >>> found = cost_terms(Sharing(81, 33, 132), 4, 132)
    >>> {name: round(count, 1) for name, count in found.items()}
    {'launch': 1, 'busy': 21, 'alone': 21, 'pieces': 1.6, 'pieces alone': 1.6, 'joined': 1.6}
    """
    most = -(-shared_out.blocks // sms)                  # blocks of a multiprocessor
    turns, pieces = -(-most // resident), shared_out.pieces / shared_out.blocks
    joined = shared_out.steps / max(1, shared_out.least) if shared_out.pieces > shared_out.tiles else 0.0
    return {"launch": 1, "busy": most * shared_out.most, "alone": turns * shared_out.most,
            "pieces": most * pieces, "pieces alone": turns * pieces, "joined": joined}
