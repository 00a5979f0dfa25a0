"""Bounds that stand beside a gate: totals that no kernel with the idea leaves, so that a low gate means less work, not uncounted work.

A gate has one side: little is good. Whoever moves data in a way that its counter does not see reads little, too. A `Bound` holds a
total against what the data and the launch need, from below, from above, or both. No table has it: a kernel that keeps to it hears nothing.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from course_lib import simt
from course_lib.check.operation import Tile
from course_lib.grading.judge.machine_code import INSTRUCTIONS, counts_of
from course_lib.grading.judge.spec import REQUESTS_LOADED, SECTORS_LOADED, SECTORS_STORED, Bound, Total
from course_lib.run import counter_name
from course_lib.toolchain import executed

SECTOR, WARP = 8, 32          # floats of a sector; lanes
SHARED_LOADED = counter_name("wavefronts", "load")


def per_work_of(*counters: str, times: float = 1.0) -> Total:
    """Return how to read counters, added up, for each piece of work; `times` of it."""
    return lambda report, case, tile, work: times * sum(report.counters[name] for name in counters) / work


def _tile_elements(tile, work):
    """Return how many elements of A and B the blocks need, each block those of its tile: BM rows and BN columns, for all k."""
    return work * (1 / tile["BM"] + 1 / tile["BN"])


def sectors_of_tiles(report: simt.Report, case: Any, tile: Tile, work: float) -> float:
    """Read the sectors loaded, as a multiple of those that the tiles of all blocks fill when each element is loaded once per block."""
    return SECTOR * report.counters[SECTORS_LOADED] / _tile_elements(tile, work)


def requests_of_tiles(report: simt.Report, case: Any, tile: Tile, work: float) -> float:
    """Read the load requests, as a multiple of those that move the tiles of all blocks at four floats per lane."""
    return 4 * WARP * report.counters[REQUESTS_LOADED] / _tile_elements(tile, work)


def sectors_stored(report: simt.Report, case: Any, tile: Tile, work: float) -> float:
    """Read the sectors stored for 32 elements of C."""
    return WARP * report.counters[SECTORS_STORED] / (case.M * case.N)


def words_brought(threads: Callable[[Tile], Sequence[int]]) -> Total:
    """Return how to read what brings operands to the lanes of a warp, as a multiple of the fewest words that its outputs need.

    Counted are wavefronts of shared loads, and shuffles, which bring words of other lanes; a wavefront has at most 32 words. A warp whose
    lanes have w outputs each, in r rows and c columns, r c >= 32 w, needs r + c >= 2 sqrt(32 w) words for each k, and does w multiply-adds.
    """
    def read(report, case, tile, work):
        outputs = tile["BM"] * tile["BN"] / math.prod(threads(tile))
        fewest = 2 * math.sqrt(WARP * outputs) / WARP / outputs
        return WARP * (report.counters[SHARED_LOADED] + shuffles(report)) / work / fewest

    return read


def shuffles(report: simt.Report) -> float:
    """Return how many shuffles warps executed."""
    if all(instruction.base != "SHFL" for instruction in report.sass):
        return 0.0
    return executed(report.sass, counts_of(report)).total(opcode="SHFL")


def shared_bytes(report: simt.Report, case: Any, tile: Tile, work: float) -> float:
    """Read the bytes of shared memory of a block."""
    return float(sum(variable.nbytes for variable in report.shared))


instructions = per_work_of(INSTRUCTIONS, times=WARP)
"""Reads all instructions of PTX that warps execute, for each multiply-add of a warp."""

ALL_OF_THE_TILE = Bound(
    "global sectors loaded, as a multiple of those that the blocks' tiles fill", sectors_of_tiles, least=1.0,
    low="Fewer than that cannot bring each block its BM rows of A and its BN columns of B: either some of it moves in a way that is "
        "not counted, or a block computes more of C than BM × BN. Let BM and BN be what a block computes of C, and load by plain loads")


def through_shared(threads: Callable[[Tile], Sequence[int]]) -> Bound:
    """Return the bound of parts in which operands come from shared memory; `threads`: tile -> threads of a block."""
    return Bound("words of shared memory that warps load, as a multiple of the fewest that their outputs need", words_brought(threads),
                 least=1.0, low="So the operands come to the threads in another way. Stage the tiles in shared memory, and let every "
                                "thread read there what it multiplies; each shall compute its share of the tile")
