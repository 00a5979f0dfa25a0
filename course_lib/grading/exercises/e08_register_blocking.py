"""Exercise 08, "Block in registers": words for an outer product, TM × TN outputs a thread, then 8 × 8 with 128-bit loads.

Shared wavefronts loaded per multiply-add of a warp. A warp of 16 × 2 threads reads for each k one row of B's tile, 16 neighbours: a
wavefront for each of the TN elements of a thread. A's elements are the same for 16 lanes, and neighbours along k come joined, LDS.64
with one wavefront or LDS.128 with two: half a wavefront for each of the TM elements. (TM / 2 + TN) / (TM · TN) is 1.5 for one output
and 0.375 for 4 × 4. With A stored column by column nothing is joined, and each element is a wavefront: (TM + TN) / (TM · TN), 2 and
0.5. 8 × 8 by LDS.128 along the rows of both tiles: two loads for B of 4 wavefronts, a quarter of a warp each, and two for A of 2, as
two quarters want the same words: (8 + 4) / 64 = 0.1875. Eight neighbours of a thread, instead of two fours, make lanes collide: 0.3125.

Part 3 counts the stores, too. On the gate's input 8,192 words go into each tile, 16 per wavefront: of A, 8 lanes along k in each of 2 rows
(the other 16 lanes store nothing); of B, 16 lanes along each of 2 rows whose banks are the same. That makes 2 · 512 for 32,768
multiply-adds of a warp, 0.03125. In As[k][row] rows of 128 words put 8 lanes along k into one bank, 4,096 instead of 512; rows of 132
words do not. Lanes
that go down the rows of A instead avoid this as well, but load 16 sectors per request and not 2, and for that there is a gate on sectors.
Tiles of 64 × 64 have 2 / (8 · 64) = 0.0039 sectors per multiply-add, and pass.

A kernel without shared memory has no wavefronts at all. But a warp whose lanes have w = TM · TN outputs each, in r rows and c columns, needs
r + c >= 2 √(32 w) words for each k, and a wavefront brings 32 at most: 2 √(32 w) / (32 w) per multiply-add, 0.3536 for one output, 0.0884 for
4 × 4. That is the least that passes, and these words must be factors of C's products. Global sectors are bounded by 0.04, above tiles of
32 × 32 with a column loaded down, 1 / 32 + 1 / 256, and below the 2 / 32 of a warp that takes its operands from global memory itself.
"""

from course_lib.check.case import all_cases, drawn_gate_case
from course_lib.check.case import gate_case as counters_case
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.bounds import ALL_OF_THE_TILE, Bound, per_work_of, through_shared
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.machine_code import local_bytes, per_warp
from course_lib.grading.judge.made_of import FACTORS_FROM_SHARED
from course_lib.grading.judge.spec import SECTORS_LOADED, Gate, Spec, per_work, tile_grid

NAME = "shared wavefronts loaded per multiply-add of a warp"
BOTH = "shared wavefronts, loads and stores, per multiply-add of a warp"
SECTORS = "global sectors loaded per multiply-add"
LOCAL = "bytes of a thread in local memory"
REUSE = "Copy TM elements of As and TN of Bs into registers once for each k, and multiply each with each; "\
        "of so many outputs a thread reads the fewest words when TM and TN are alike"
NEIGHBOURS = "Let neighbouring threads compute neighbouring rows and neighbouring columns, " \
             "so that a warp reads neighbouring words of each tile"
WIDE = "Let a thread read four neighbours at once, and its next four half a tile on, so that neighbouring lanes read neighbouring fours"
PADDED = "Choose the length of a row so that the lanes that store a column of A's tile find banks of their own"
LARGER = "A larger tile of C loads each element for more outputs: 64 × 64 is enough where each element is loaded once"


STAGED = Bound(SECTORS, per_work_of(SECTORS_LOADED), most=0.04,
               high="Operands come from global memory again and again: stage both tiles in shared memory, each element once per block")


def _block(tile):
    return tile["BN"] // tile["TN"], tile["BM"] // tile["TM"], 1


def _part(part, title, entry, gates, transposed=""):
    return Spec("08_register_blocking", part, title, entry, Sgemm(transposed), ("BM", "BN", "BK", "TM", "TN"), grid=tile_grid,
                block=_block, cases=all_cases,
                gate_case=counters_case, gate_drawn=drawn_gate_case, gates=gates,
                bounds=(ALL_OF_THE_TILE, through_shared(_block), STAGED), made_of=FACTORS_FROM_SHARED)


def _drawn(rng):
    yield from ((int(rng.integers(1, 17)), int(rng.integers(1, 17))) for _ in range(4))


def _guess(given, got):
    """Say which mistake gives this number."""
    TM, TN = given
    mistakes = {
        "That is the words for one k; TM · TN multiply-adds share them": TM + TN,
        "That is upside down: words per multiply-add, not multiply-adds per word": TM * TN / (TM + TN),
        "A thread reads TM words of A's tile and TN of B's, not one for each output": 2.0,
        "The words are read once each: TM + TN, not TM · TN": 1.0,
    }
    return next((says for says, value in mistakes.items() if abs(got - value) < 1e-9 * value), "") if isinstance(got, int | float) else ""


PARTS = (
    FunctionSpec("08_register_blocking", "words", "Part 1: words for a multiply-add", "words", ("TM", "TN"),
                 ((1, 1), (2, 2), (4, 4), (8, 8), (8, 4), (1, 16)), _drawn, lambda TM, TN: 1 / TM + 1 / TN, tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: TM × TN outputs a thread", "blocked",
          (Gate(NAME, per_warp("wavefronts"), 0.45, 1.5, 0.375, REUSE, NEIGHBOURS),)),
    _part("main-b", "Part 2: TM × TN outputs a thread (A stored column by column)", "blocked_at",
          (Gate(NAME, per_warp("wavefronts"), 0.55, 2.0, 0.5, REUSE, NEIGHBOURS),), "A"),
    _part("wide", "Part 3: 8 × 8 outputs and 128-bit loads", "wide",
          (Gate(BOTH, per_warp("wavefronts", ("load", "store")), 0.23, 0.28125, 0.21875, WIDE, WIDE, PADDED),
           Gate(SECTORS, per_work(SECTORS_LOADED), 0.004, 2 / (8 * 128), 2 / (8 * 128), LARGER, sectors="load"),
           Gate(LOCAL, local_bytes, 0.0, 288.0, 0.0))),
)
