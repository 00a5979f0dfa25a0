"""Exercise 10, "Clamp instead of branch": count what lies outside, clamp rows and columns once, then take K's rest out of the loop.

Counters are read on one block that is cut on all sides: M = 7, N = 63, K = 16 · 8 + 5, with 8 × 64 sums in 2 warps and tiles 8 deep.
Needed are 7 · 63 · 133 / 32 = 1832.9 multiply-adds of warps; the loop goes through 17 tiles, 34 for both warps.

Machine instructions (sm_90, NVRTC 13.5). Clamped, and K tested at each load of B: 147 a tile, 64 FFMA, 16 LDS.128, 9 LDG, 1 STS, 2
barriers and 55 for addresses, tests and zeros: 34 · 147 / 1832.9 = 2.7268; with A stored column by column 155, 2.8752. Right ones of
other make (pointers, a loop that ends at K) need up to 3.49 and 3.60. A row or k asked for at each multiply-add: 3.66 or more. The
starter has 4.6756, 225 to 257 instructions a tile, as each multiply-add loads B anew. With the rest of K behind the loop there are 108 a
tile, 92 without addresses and loop, and 79 for the rest: 2 · (16 · 108 + 79) / 1832.9 = 1.9717. With columns tested, 2.12.

A test at a load costs little: with all at the loads it is 2.78. What tells it from a clamp is which branches diverge in PTX, where a
test is a branch: in the starter 931 of rows that exist (7 · 133), 18 of A (in 16 tiles the warp that has row 7, both in the last), 7
stores: 956. Tested at each load of B, 133 + 18 + 7 = 158. Clamped, 7 stores and the 2 of the last tile: 9, or 0.0049; stored column by
column 931 + 34 + 7 = 972 and 8. The limit of 0.01 is 18.3, less than one row test of A a tile (25).

Where two loops stand on the same source lines (a template's), counters do not say which of them ran, and the shorter one is counted. A
block's fast path that was not taken looks like 1.98 so; but its branches diverge. In part 3 PTX instructions, counted as they run,
tell: 2.97 peeled, 3.22 or more where one loop has both branches, 3.9 with k tested at each load. A row asked for at each
multiply-add is seen even in the twin of a clamped loop (3.7551): the loads of A's tile, now one by one, are counted, and tell which ran.

The second input, which the seed draws, is cut on all sides, too, and needs no more per multiply-add: the more tiles, the fewer of them are cut.
"""

import numpy as np

from course_lib.check.case import Case, all_cases, whole_sectors
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.machine_code import INSTRUCTIONS, per_multiply_add
from course_lib.grading.judge.spec import Gate, Reading, Spec, tile_grid

EXERCISE = "10_any_size"
TILE = {"BM": 8, "BN": 64, "BK": 8}            # what a block computes, whatever the text defines
CUT = Case("counters", TILE["BM"] - 1, TILE["BN"] - 1, 16 * TILE["BK"] + 5)
NEEDED = CUT.M * CUT.N * CUT.K / 32
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
MACHINE, DIVERGED, PTX = (f"{what} per multiply-add" for what in ("machine instructions", "divergent branches", "PTX instructions"))
CLAMP = "Send a thread without a row or a column to one that exists, once, before the loop: nobody stores its sums"
UNROLL = "Where nothing is asked in the loop any more, let the compiler unroll it to its end"
PEEL = "Go through the whole tiles without asking for k, and do what is left of K behind that loop"


def _counted(counter):
    """Return how a gate reads a counter of warps for each multiply-add of a warp."""
    def read(report, work):
        count = report.counters[counter]
        shares = {line: values[counter] for line, values in report.lines.items() if values.get(counter)}
        return Reading(32 * count / work, f"{count} / {work / 32:.0f} of warps", shares)

    return read


def _part(part, title, entry, gates, transposed=""):
    return Spec(EXERCISE, part, title, entry, Sgemm(transposed), ("BM", "BN", "BK"), grid=lambda case, tile: tile_grid(case, TILE),
                block=lambda tile: (TILE["BN"], 1, 1), cases=lambda tile: all_cases(TILE), gate_case=lambda tile: CUT, gates=gates,
                gate_drawn=_cut_elsewhere)


def _cut_elsewhere(tile, rng):
    """Return another input for counters, cut on all sides: no more of a block lies outside than of `CUT`, and K has any rest."""
    rows, cols, depth = (int(number) for number in rng.integers((2, 1, 20), (5, 3, 27)))
    M = TILE["BM"] * rows - int(rng.integers(1, rows + 1))
    N, K = TILE["BN"] * cols - int(rng.integers(1, cols + 1)), TILE["BK"] * depth + int(rng.integers(1, TILE["BK"]))
    return Case("counters, of a drawn size", M, N, K, alpha=float(np.float32(rng.uniform(0.5, 2))), pad=whole_sectors(rng))


def predicted(M: int, N: int, K: int, BM: int, BN: int, BK: int) -> tuple[int, float]:
    """Return how many blocks take the fast path, and the share of multiply-adds that no element of C needs.

    >>> predicted(96, 64, 32, 64, 64, 16), predicted(64, 64, 24, 64, 64, 16)
    ((1, 0.25), (0, 0.25))
    """
    blocks = [(first_row + BM <= M and first_col + BN <= N and K % BK == 0)
              for first_row in range(0, M, BM) for first_col in range(0, N, BN)]
    executed = len(blocks) * BM * BN * len(range(0, K, BK)) * BK
    return sum(blocks), (executed - M * N * K) / executed


def _drawn(rng):
    for whole in (False, False, True, True):
        BM, BN, BK = (int(2 ** rng.integers(3, 8)) for _ in range(3))
        K = BK * int(rng.integers(1, 9))
        yield int(rng.integers(1, 1000)), int(rng.integers(1, 1000)), K if whole else K + int(rng.integers(1, BK)), BM, BN, BK


def _guess(given, got):
    """Say which mistake gives these numbers."""
    M, N, K, BM, BN, BK = given
    fast, outside = got
    right, share = predicted(*given)
    rows, cols, depth = (-(-size // tile) for size, tile in zip((M, N, K), (BM, BN, BK), strict=True))
    needed = (M * N * K) / (rows * BM * cols * BN * depth * BK)
    blocks = {"where BK does not divide K, every block has a tile that is cut": (M // BM) * (N // BN),
              "those are the blocks that must test": rows * cols - right, "those are all blocks of the launch": rows * cols}
    shares = {"that is the share that is needed": needed,
              "divide by the multiply-adds that are executed, not by those that are needed": 1 / needed - 1,
              "the last tile along K may be cut as well": 1 - M * N / (rows * BM * cols * BN), "it is a share: 0.25, not 25": 100 * share}
    if fast != right:
        return next((f"The blocks: {says}" for says, value in blocks.items() if fast == value), "The blocks are wrong")
    return next((f"The share: {says}" for says, value in shares.items() if abs(outside - value) < 1e-9), "The share is wrong")


PARTS = (
    FunctionSpec(EXERCISE, "edges", "Part 1: who must test?", "edges", ("M", "N", "K", "BM", "BN", "BK"),
                 ((64, 64, 64, 64, 64, 16), (96, 64, 32, 64, 64, 16), (65, 65, 64, 64, 64, 16), (64, 64, 65, 64, 64, 16),
                  (129, 129, 128, 64, 64, 16), (7, 63, 133, 8, 64, 8), (1024, 1024, 1025, 64, 64, 16)),
                 _drawn, predicted, tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: clamp once", "clamped", (
        Gate(MACHINE, per_multiply_add, 3.6, 8570 / NEEDED, 34 * 147 / NEEDED, f"{CLAMP}. {UNROLL}"),
        Gate(DIVERGED, _counted(DIVERGENT), 0.01, 956 / NEEDED, 9 / NEEDED, CLAMP))),
    _part("main-b", "Part 2: clamp once (A stored column by column)", "clamped_at", (
        Gate(MACHINE, per_multiply_add, 3.7, 8570 / NEEDED, 34 * 155 / NEEDED, f"{CLAMP}. {UNROLL}"),
        Gate(DIVERGED, _counted(DIVERGENT), 0.01, 972 / NEEDED, 8 / NEEDED, CLAMP)), "A"),
    _part("peeled", "Part 3: the rest of K", "peeled", (
        Gate(MACHINE, per_multiply_add, 2.1, 8570 / NEEDED, 2 * (16 * 108 + 79) / NEEDED, f"{PEEL}. {UNROLL}"),
        Gate(PTX, _counted(INSTRUCTIONS), 3.15, 13024 / NEEDED, 5436 / NEEDED, PEEL))),
)
