"""Who does how much: the work of the busiest multiprocessor, and what each block does of a product whose steps are shared out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from course_lib.model.inputs import InputError, whole
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
class SharedSteps:
    """How the steps of all tiles are shared out among blocks.

    Attributes
    ----------
    steps
        Of each block.
    pieces
        Tiles and parts of tiles that each block works on, one after another.
    partial
        Blocks that leave sums to another block, which adds them up.
    """

    steps: tuple[int, ...]
    pieces: tuple[int, ...]
    partial: int

    @property
    def units(self) -> Units:
        """Return (blocks, steps of each of them), most steps first."""
        return tuple((len(list(alike)), float(steps)) for steps, alike in groupby(sorted(self.steps, reverse=True)))


def shared_steps(tiles: int, steps: int, blocks: int) -> SharedSteps:
    """Share out steps as `sgemm_stream_k` and `dgemm_stream_k` do: whole tiles while each block has one, then what is left step by step.

    Parameters
    ----------
    tiles
        Of C.
    steps
        Along K, of each tile.
    blocks
        Of the launch.

    Raises
    ------
    InputError, a ValueError
        On a value that is not a whole number from 1.

    Source: the kernels' texts; their test compares it with what each block does in the simulator.

    Five tiles of four steps for three blocks: the first two blocks have seven steps, and two blocks end in the middle of a tile.

    >>> shared_steps(5, 4, 3)
    SharedSteps(steps=(7, 7, 6), pieces=(2, 3, 2), partial=2)
    """
    for name, value in (("tiles", tiles), ("steps", steps), ("blocks", blocks)):
        whole(name, value, 1, MOST, "a launch has from")
    waves = max(tiles // blocks - 1, 0)
    left = (tiles - waves * blocks) * steps
    ends = [left // blocks * who + min(left % blocks, who) for who in range(blocks + 1)]
    parts = [(begin, end) for begin, end in zip(ends, ends[1:], strict=False)]
    return SharedSteps(tuple(waves * steps + end - begin for begin, end in parts),
                       tuple(waves + (math.ceil(end / steps) - begin // steps if end > begin else 0) for begin, end in parts),
                       sum(end > begin and end % steps > 0 for begin, end in parts))
