"""Exercise 07, "Write the loop out": predict what unrolling gives, let the compiler unroll, then share loads among several outputs.

Machine instructions of a warp per multiply-add (sm_90, NVRTC 13.5), read from the machine code of one step along K, each instruction as
often as it is executed. The starter of the main part takes 12.875: a turn of its loop has 10 instructions for one multiply-add, and 46
come once per tile of 16. Without its pragma 6.9375, as the number of turns is still not known to the compiler. With 16 turns known there
is no loop any more: 16 FFMA, 20 loads (4 LDS.128 of A's tile and 16 LDS of B's) and 24 once per tile, 60 / 16 = 3.75. With A stored
column by column its tile's elements are 16 words apart, so that nothing is joined: 16 FFMA, 32 loads, 21 once per tile, 69 / 16. Four
outputs a thread: 64 FFMA, 16 loads for B, 16 LDS.128 for A and 45 once per tile, 141 / 64 = 2.2031.

The gate counts loops alone, so work that is written out beside a loop would be free. Therefore all instructions are bounded as well, those of
PTX, which the simulator counts one by one: 4.7813 per multiply-add in the worked kernel (4.7930 with A stored column by column, 3.0742 with
four outputs), 13.2578 in the starter. The bounds of 6.5 and 4.2 leave room for what comes once in a kernel.
"""

import numpy as np

from course_lib.check.case import Case, all_cases, whole_sectors
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.bounds import ALL_OF_THE_TILE, Bound, instructions, through_shared
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.machine_code import per_multiply_add
from course_lib.grading.judge.made_of import FACTORS_FROM_SHARED
from course_lib.grading.judge.spec import Gate, Spec, tile_grid

NAME = "machine instructions per multiply-add"
KNOWN = "A loop disappears when the compiler may unroll it and knows how often it turns; tiles are filled up with 0 beyond K"
SHARE = "Let a thread compute TM outputs of a column: an element of B's tile, once in a register, serves TM multiply-adds"


def _steps(tile):
    """Return the input on which instructions are counted: one block, 16 steps along K."""
    return Case("counters", tile["BM"], tile["BN"], 16 * tile["BK"])


def _steps_drawn(tile, rng):
    """Draw another such input, of one to three blocks along each axis, and more steps."""
    M, N, K = (tile[name] * int(rng.integers(least, most)) for name, least, most in (("BM", 1, 4), ("BN", 1, 4), ("BK", 17, 25)))
    return Case("counters, of a drawn size", M, N, K, alpha=float(np.float32(rng.uniform(0.5, 2))),
                pad=whole_sectors(rng))


def _block(tile):
    return tile["BN"], tile["BM"] // tile.get("TM", 1), 1


def _part(part, title, entry, gate, transposed="", more=(), most=6.5):
    everything = Bound("all instructions (of PTX) per multiply-add", instructions, most=most,
                       high="The gate counts loops. This counts the whole kernel, so that work written out beside a loop, or multiply-adds "
                            "of no use, do not pay: multiply in the loop, and nothing that C does not need")
    return Spec("07_unrolling", part, title, entry, Sgemm(transposed), ("BM", "BN", "BK", *more), grid=tile_grid, block=_block,
                cases=all_cases, gate_case=_steps, gate_drawn=_steps_drawn, gates=(gate,),
                bounds=(ALL_OF_THE_TILE, through_shared(_block), everything), made_of=FACTORS_FROM_SHARED)


def predicted(unroll: int, BK: int, loads: float, loop: int, once: int) -> float:
    """Return the instructions per multiply-add of a step along K, the loop over the tile unrolled unroll times.

    >>> predicted(unroll=1, BK=16, loads=2, loop=5, once=31), predicted(unroll=16, BK=16, loads=1.25, loop=5, once=24)
    (9.9375, 3.75)
    """
    turns = 0 if unroll == BK else BK // unroll
    return (BK + BK * loads + turns * loop + once) / BK


def _drawn(rng):
    for parts in (1, 2, 4, 1):
        BK = int(2 ** rng.integers(2, 7))
        yield BK // parts, BK, float(rng.integers(4, 9)) / 4, int(rng.integers(3, 12)), int(rng.integers(10, 60))


def _guess(given, got):
    """Say which mistake gives this number."""
    unroll, BK, loads, loop, once = given
    around = loop / unroll if unroll < BK else 0
    mistakes = {
        "The multiply-add itself is an instruction too": loads + around + once / BK,
        "Where unroll = BK there is no loop any more, and nothing of `loop`": 1 + loads + loop / unroll + once / BK,
        "`once` comes once per tile, and the tile has BK multiply-adds for a thread": 1 + loads + around + once,
        "The multiply-adds of a turn share the instructions of `loop`": 1 + loads + loop + once / BK,
        "That is the number for a whole tile; BK multiply-adds share it": BK * predicted(*given),
    }
    return next((says for says, value in mistakes.items() if abs(got - value) < 1e-9 * value), "") if isinstance(got, int | float) else ""


PARTS = (
    FunctionSpec("07_unrolling", "predict", "Part 1: what unrolling gives", "instructions",
                 ("unroll", "BK", "loads", "loop", "once"),
                 ((1, 16, 2, 5, 31), (2, 16, 2, 5, 31), (4, 16, 1.5, 5, 31), (8, 16, 1.25, 5, 31), (16, 16, 1.25, 5, 24),
                  (8, 32, 1.25, 6, 40)),
                 _drawn, predicted, tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: let the loop go", "unrolled", Gate(NAME, per_multiply_add, 4.0, 12.875, 60 / 16, KNOWN)),
    _part("main-b", "Part 2: let the loop go (A stored column by column)", "unrolled_at",
          Gate(NAME, per_multiply_add, 4.6, 12.1875, 69 / 16, KNOWN), "A"),
    _part("outputs", "Part 3: several outputs a thread", "outputs", Gate(NAME, per_multiply_add, 2.4, 3.75, 141 / 64, SHARE), more=("TM",),
          most=4.2),
)
