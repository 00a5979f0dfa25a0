"""Exercise 02, "The CPU done properly": predict the lines of a block, block the loops for a cache, then a better block than the square.

Cache lines per multiply-add, by hand. A line holds 16 floats; the cache has 64 lines; M = 48, N = 64, K = 96.

`ijk`, the starter of part 2, for A Bᵀ: all of B, 384 lines, comes anew for each row of C, 1/16; A and C once, 1/(16 · 64) + 1/(16 · 96):
0.0641. So costs `ikj` for A B, the starter of part 3. `kij`, the starter of variant b, for Aᵀ B: all of C, 192 lines, comes anew for each
k, 1/16; A and B once, 1/(16 · 64) + 1/(16 · 48): 0.0648.

A block of C of BI × BJ elements that stays in the cache while k runs from 0 to K: each k needs BI elements of A and BJ of B for BI · BJ
multiply-adds, and their lines serve 16 k or 16 j: 1/(16 BJ) + 1/(16 BI), and C once, 1/(16 K). With 16 × 16: 0.0085.

Of the square blocks whose rows are whole lines only 16 × 16 fits: one of 32 × 32 fills all 64 lines. 16 × 32 takes 32 lines for C; while
one k passes, 16 of A and 2 of B come to them, 50 in all: 1/512 + 1/256 + 1/1536 = 0.0065.

When grading, lines are counted on one more input, with twice the rows or twice the columns: a block of any shape that divides 48 or 64 into
n pieces divides twice as many into at most 2 n, so that what passes on the first input passes on the second.
"""

from dataclasses import replace

from course_lib.check.case import Case
from course_lib.check.loops import Loops
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.loops_spec import LINES, LoopsSpec, drawn_lines, lines_per_work, loop_cases
from course_lib.grading.judge.spec import Gate
from course_lib.model.cache_lines import CacheShape

EXERCISE = "02_cpu"
CACHE = CacheShape(4096)
PER_LINE = 16


def lines_of_block(BI: int, BJ: int, K: int) -> float:
    """Return the lines per multiply-add of loops that keep a block of C, BI × BJ, in the cache for all k.

    >>> round(lines_of_block(16, 16, 96), 4)
    0.0085
    """
    return (1 / BI + 1 / BJ + 1 / K) / PER_LINE


def _guess(given, got):
    BI, BJ, K = given
    known = {
        1 / BI + 1 / BJ + 1 / K: "These are elements: a line holds 16 of them",
        lines_of_block(BI, BJ, K) - 1 / K / PER_LINE: "The lines of C are missing: its block is fetched once for all k",
        (1 / BI + 1 / BJ + 1) / PER_LINE: "C stays in the cache for all k: its block is fetched once, not for each k",
        lines_of_block(BI, BJ, K) + 1 / K / PER_LINE: "C is counted twice: no line is fetched to write back what is in the cache already",
        lines_of_block(BI, BJ, K) * BI * BJ * K: "These are the lines of a whole block: divide by its multiply-adds, BI · BJ · K",
    }
    if isinstance(got, (int, float)):
        return next((words for value, words in known.items() if abs(got - value) <= 1e-9 * value), "")
    return ""


def _drawn(rng):
    return [(int(rng.integers(4, 90)), 16 * int(rng.integers(1, 7)), int(rng.integers(8, 2000))) for _ in range(4)]


def _drawn_gate(tile, rng):
    """Draw an input with twice the rows or the columns, so that whole blocks stay whole, of whatever shape they are."""
    case = drawn_lines((3, 3), (4, 4), (5, 7))(tile, rng)
    return replace(case, M=2 * case.M) if rng.integers(2) else replace(case, N=2 * case.N)


def _loops(part, title, entry, gate, transposed=""):
    return LoopsSpec(EXERCISE, part, title, entry, Loops(transposed), loop_cases, lambda tile: Case("counters", 48, 64, 96), CACHE,
                     (gate,), gate_drawn=_drawn_gate)


def _gate(limit, achievable, advice, starter=1 / 16 + 1 / 1024 + 1 / 1536):
    return Gate(LINES, lines_per_work, limit, starter, achievable, advice)


FITS = "Multiply a block at a time: what a block needs of A, B and C must stay in 64 lines until it is done"
PARTS = (
    FunctionSpec(EXERCISE, "predict", "Part 1: what a block costs", "lines_per_multiply_add", ("BI", "BJ", "K"),
                 ((16, 16, 96), (16, 16, 1000), (16, 32, 96), (32, 16, 96), (8, 64, 96), (24, 48, 500)), _drawn, lines_of_block,
                 tolerance=1e-9, guess=_guess),
    _loops("block", "Part 2: block the loops of A Bᵀ", "blocked_bt", _gate(0.01, lines_of_block(16, 16, 96), FITS), transposed="B"),
    _loops("block-b", "Part 2: block the loops of Aᵀ B", "blocked_at",
           _gate(0.01, lines_of_block(16, 16, 96), FITS, 1 / 16 + 1 / 1024 + 1 / 768), transposed="A"),
    _loops("rectangle", "Part 3: a better block than the square", "rectangle",
           _gate(0.0075, lines_of_block(16, 32, 96),
                 "What must stay is the block of C, and what one k brings of A and B: make the block of C larger")),
)
