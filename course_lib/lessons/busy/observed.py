"""What each block of a kernel really computed, from the addresses that its threads asked for in the simulator."""

import math

import numpy as np

from course_lib.errors import CourseError
from course_lib.model.stream_k import Piece
from course_lib.run import RunResult
from course_lib.run.traces import array_of, is_load


def observed_pieces(result: RunResult, BM: int, BN: int, BK: int) -> list[list[Piece]]:
    """Return what each block computed, in its order, from its loads of A and B alone.

    Thread 0 of a block is asked: an element of A tells the row of tiles and k, one of B the column of tiles and k.

    Parameters
    ----------
    result
        Of a product of row-major matrices without padding. Its trace has warp 0 of every block, and thread 0 computes the first element of
        a tile with plain loads, one of A and one of B for each k.
    BM, BN, BK
        The tile of a block, and the depth of a k-step.

    Raises
    ------
    CourseError
        When thread 0 of a block does not load as many elements of A as of B, or of other k.
    """
    tiles_n = -(-result.N // BN)
    found = []
    for block in range(math.prod(result.grid)):
        a, b = (_elements(result, name, block) for name in "AB")
        if len(a) != len(b) or (a % result.K != b // result.N).any():
            raise CourseError(f"thread 0 of block {block} loads {len(a)} elements of A and {len(b)} of B that do not belong together",
                              block=block)
        tiles = a // result.K // BM * tiles_n + b % result.N // BN
        found.append(_joined(block, tiles, a % result.K, BK))
    return found


def _elements(result: RunResult, name: str, block: int) -> np.ndarray:
    """Return which elements of a matrix thread 0 of a block loads, in its order."""
    array = array_of(result, name)
    asked = [record.addresses[0] for record in result.trace if record.block[0] == block and record.warp == 0
             and record.space == "global" and is_load(record)]
    inside = [(at - array.address) // 4 for at in asked if array.address <= at < array.address + array.nbytes]
    return np.array(inside, dtype=np.int64)


def _joined(block: int, tiles: np.ndarray, ks: np.ndarray, BK: int) -> list[Piece]:
    """Return runs of neighbouring k of one tile as pieces."""
    ends = np.flatnonzero((np.diff(tiles) != 0) | (np.diff(ks) != 1)) + 1
    runs = [run for run in np.split(np.arange(len(tiles)), ends) if len(run)]
    return [Piece(block, int(tiles[run[0]]), int(ks[run[0]]) // BK, -(-(int(ks[run[-1]]) + 1) // BK)) for run in runs]
