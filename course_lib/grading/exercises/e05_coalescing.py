"""Exercise 05, "Repair a kernel": predict sectors, then make a tiled kernel's loads and stores coalesced, then load four floats at once.

By hand, for tiles of 16 × 16 × 16 and 256 threads. A warp has 16 lanes along x in each of 2 rows. Where x is added to an index, it
touches 2 rows of 64 bytes, 4 sectors; where x is multiplied by the leading dimension, 16 rows and 2 neighbours in each, 16 sectors.
The starter has one load of each kind, (4 + 16) / 2 = 10 a request, and stores the second way. A step of a tile is 8 warps that make
2 requests each for 16³ multiply-adds: 8 · 20 / 4096 = 0.0391 sectors each before, 8 · 8 / 4096 = 0.0156 after. A load of 16 bytes a lane
needs a quarter of the requests: 4 instead of 16 in 4096 multiply-adds, and as many sectors as before.

An average per request is lowered by requests of no use. Three stores of a single lane beside each store down a column make
(16 + 3) / 4 = 4.75. So the totals are held, too: 4 sectors for 32 elements of C, and for the tiles as many as they fill, a third more at most.
"""

import numpy as np

from course_lib import model
from course_lib.check.case import Case, all_cases, drawn_gate_case, gate_case
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.bounds import ALL_OF_THE_TILE, Bound, requests_of_tiles, sectors_of_tiles, sectors_stored, through_shared
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import FACTORS_FROM_SHARED
from course_lib.grading.judge.spec import (
    REQUESTS_LOADED,
    REQUESTS_STORED,
    SECTORS_LOADED,
    SECTORS_STORED,
    Gate,
    Spec,
    per_count,
    per_work,
    tile_grid,
)

EXERCISE = "05_coalescing"
TILE = ("BM", "BN", "BK")
LANES = np.arange(32)


def sectors_of(stride: int, offset: int) -> int:
    """Return the sectors of a request whose lane l loads the float at offset + stride · l, by looking at every lane.

    >>> [sectors_of(1, 0), sectors_of(1, 1), sectors_of(2, 0), sectors_of(9, 5)]
    [4, 5, 8, 32]
    """
    return model.sectors(4 * (offset + stride * LANES))


def _sectors_mistake(given, got):
    """Name the mistake behind a wrong number of sectors."""
    stride, offset = given
    first, last = offset, offset + 31 * stride
    known = (
        (lambda: got > 32, "Each of the 32 lanes touches one sector, so there are never more than 32"),
        (lambda: got < 1, "Some lane always touches some sector"),
        (lambda: got == sectors_of(stride, 0), f"That is right for offset 0. Here the first lane wants float {first}: where in its sector "
                                               "of 8 floats is that?"),
        (lambda: got == len(np.unique((offset + stride * LANES) // 32)), "That counts lines of 128 bytes; a sector has 32 bytes, 8 floats"),
        (lambda: got == sectors_of(stride, 0) + 1, "An offset costs one more sector only where it moves the last lane into a new one: "
                                                   f"the lanes reach from float {first} to float {last}"),
        (lambda: got == 4, "4 sectors hold the 128 bytes that are wanted; fetched is every sector that some lane touches"),
    )
    return next((says for holds, says in known if holds()), "")


def _some_patterns(rng):
    """Draw strides and offsets, small and large."""
    yield from ((int(rng.integers(1, 9)), int(rng.integers(0, 40))) for _ in range(8))
    yield from ((int(rng.integers(9, 60)), int(rng.integers(0, 1000))) for _ in range(4))


LOADS = Gate("sectors per load request", per_count(SECTORS_LOADED, REQUESTS_LOADED), limit=5.0, starter=10.0, achievable=4.0,
             advice="Let threadIdx.x be added to the index of what this line loads, not multiplied by the leading dimension")
STORES = Gate("sectors per store request", per_count(SECTORS_STORED, REQUESTS_STORED), limit=5.0, starter=16.0, achievable=4.0,
              advice="Neighbouring lanes should store neighbouring columns of a row of C")


def _reuse(starter):
    return Gate("sectors loaded per multiply-add", per_work(SECTORS_LOADED), limit=0.02, starter=starter, achievable=64 / 4096,
                advice="Load each element of a tile once into shared memory, and read it there for every multiply-add", sectors="load")


REQUESTS = Gate("load requests per multiply-add", per_work(REQUESTS_LOADED), limit=0.0015, starter=16 / 4096, achievable=4 / 4096,
                advice="Where four neighbours of a row are there and begin at a multiple of 16 bytes, load them as one float4")


def _block(tile):
    return tile["BN"], tile["BM"], 1


BOUNDS = (
    ALL_OF_THE_TILE,
    through_shared(_block),
    Bound("global sectors stored per 32 elements of C", sectors_stored, least=4.0, most=5.5,
          low="32 floats fill 4 sectors, so some of C is stored in a way that is not counted: store it by plain stores",
          high="Each element of C shall be stored once, and neighbouring lanes shall store neighbours: stores of no use lower the average "
               "of a request, not the total"),
)
ONCE = Bound(ALL_OF_THE_TILE.name, sectors_of_tiles, most=1.35,
             high="Sectors are loaded more than once, or for data that nobody needs. Neighbouring lanes shall load neighbours, each element "
                  "once: loads of no use lower the average of a request, not the total")
FOURS = Bound("load requests, as a multiple of those that move the tiles at four floats per lane", requests_of_tiles, most=1.6,
              high="The requests are few because the tile is large, not because each brings four floats per lane: load a float4")


def _wide_cases(tile):
    BM, BN, BK = (tile[name] for name in TILE)
    return (*all_cases(tile),
            Case("rows that begin at 16 bytes, tails of 2", BM + 2, BN + 2, BK + 2, pad=(-BK - 2) % 4 + 4),
            Case("rows that begin at 16 bytes, tails of 3", 2 * BM, BN + 3, BK + 3, alpha=2.0, beta=-1.0, pad=(-BK - 3) % 4))


def _part(part, title, entry, operation, cases, *gates):
    return Spec(EXERCISE, part, title, entry, operation, TILE, grid=tile_grid, block=_block, cases=cases, gate_case=gate_case,
                gate_drawn=drawn_gate_case, gates=gates, bounds=(*BOUNDS, FOURS if part == "wide" else ONCE), made_of=FACTORS_FROM_SHARED)


PARTS = (
    FunctionSpec(EXERCISE, "predict", "Part 1: predict the sectors of a request", "sectors", ("stride", "offset"),
                 cases=((1, 0), (1, 1), (1, 8), (2, 0), (2, 3), (3, 0), (3, 2), (5, 7), (8, 3), (11, 0), (32, 5)),
                 drawn=_some_patterns, expected=sectors_of, guess=_sectors_mistake),
    _part("main", "Part 2: repair a kernel for Aᵀ B", "transposed_a", Sgemm("A"), all_cases, LOADS, STORES, _reuse(160 / 4096)),
    _part("main-b", "Part 2: repair a kernel for A Bᵀ", "transposed_b", Sgemm("B"), all_cases, LOADS, STORES, _reuse(160 / 4096)),
    _part("wide", "Part 3: four floats at once", "wide", Sgemm(), _wide_cases, REQUESTS, _reuse(64 / 4096)),
)
