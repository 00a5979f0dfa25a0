"""Exercise 04, "Tile a kernel": stage A alone, then tile for any size, then a tile larger than a block of threads.

Sectors loaded per multiply-add, by hand. A sector holds 8 floats. A warp of a 16 × 16 block covers two rows of 16
columns, so that for 32 multiply-adds the naive kernel loads 2 sectors of A (one element of each row) and 2 of B (16
neighbours): 4 / 32 = 0.125. In a tile of BM × BN outputs an element of A serves BN of them, and one of B serves BM:
(1 / BN + 1 / BM) / 8. With A alone staged, B's share of the naive kernel, 2 / 32, is left.

Variant b of part 2 computes Aᵀ B, with A stored K × M. There the two elements of A that a warp of the naive kernel needs are
neighbours in one sector: (1 + 2) / 32 = 0.0938. Tiles cost what they cost before, when neighbouring lanes load neighbours; lanes that
run along k, as in variant a, load 16 sectors of A for 32 elements instead of 4: (16 / 32 + 4 / 32) / 16 = 0.0391.

A block needs BM rows of A and BN columns of B. They fill (1 / BN + 1 / BM) / 8 sectors per multiply-add, and less cannot bring them. Whoever
keeps 32 rows of sums in the registers of one warp, while the others do nothing, comes near to that without shared memory; therefore its words are
counted, too (`judge/bounds.py`), and must reach C (`judge/made_of.py`).
"""

from course_lib.check.case import all_cases, drawn_gate_case, gate_case, whole_tile_cases
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.bounds import ALL_OF_THE_TILE, SHARED_LOADED, Bound, per_work_of, through_shared
from course_lib.grading.judge.made_of import FACTORS_FROM_SHARED
from course_lib.grading.judge.spec import SECTORS_LOADED, Gate, Spec, per_work, tile_grid

NAME = "global sectors loaded per multiply-add"
REUSE = "Load each element of a tile once into shared memory, and read it there for every multiply-add"
STAGED = Bound("wavefronts of shared memory loaded per multiply-add of a warp", per_work_of(SHARED_LOADED, times=32), least=1 / 32,
               low="A warp needs at least one word of A in each step, and it shall come from As: stage A in shared memory")


def _part(part, title, entry, tile, block, cases, gate, transposed=""):
    shared = STAGED if part == "stage" else through_shared(block)
    return Spec("04_tiling", part, title, entry, Sgemm(transposed), tile, grid=tile_grid, block=block, cases=cases,
                gate_case=gate_case, gate_drawn=drawn_gate_case, gates=(gate,),
                bounds=(ALL_OF_THE_TILE, shared), made_of=FACTORS_FROM_SHARED)


PARTS = (
    _part("stage", "Part 1: stage A", "stage_a", ("BM", "BN", "BK"), lambda t: (t["BN"], t["BM"], 1), whole_tile_cases,
          Gate(NAME, per_work(SECTORS_LOADED), limit=0.08, starter=0.125, achievable=2 / 32 + 1 / (8 * 16),
               advice="A's elements shall come from As, B's may still come from B", sectors="load")),
    _part("tile", "Part 2: tile for any size", "tiled", ("BM", "BN", "BK"), lambda t: (t["BN"], t["BM"], 1), all_cases,
          Gate(NAME, per_work(SECTORS_LOADED), limit=0.02, starter=0.125, achievable=2 / (8 * 16), advice=REUSE, sectors="load")),
    _part("tile-b", "Part 2: tile AᵀB for any size", "tiled_at", ("BM", "BN", "BK"), lambda t: (t["BN"], t["BM"], 1), all_cases,
          Gate(NAME, per_work(SECTORS_LOADED), limit=0.02, starter=3 / 32, achievable=2 / (8 * 16),
               advice=REUSE, sectors="load"), transposed="A"),
    _part("wide", "Part 3: a tile larger than the block", "wide", ("BM", "BN", "BK", "BX", "BY"),
          lambda t: (t["BX"], t["BY"], 1), all_cases,
          Gate(NAME, per_work(SECTORS_LOADED), limit=0.006, starter=0.125, achievable=2 / (8 * 64),
               advice=f"{REUSE}, and let a block compute more than 1024 elements of C", sectors="load")),
)
