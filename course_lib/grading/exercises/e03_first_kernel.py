"""Exercise 03, "Who computes which element?": the element of a thread, any M × N × K with two elements a thread, the warp with the fewest
sectors.

Load sectors per multiply-add in the last part, by hand. A is stored column by column there. A warp that covers r rows and c columns
of C asks A for r neighbours in a column, r / 8 sectors, and B for c neighbours in a row, c / 8 sectors, each at least one. The
starter's warp, the best of lesson 03, has 2 rows and 16 columns: 1 + 2 sectors for 32 multiply-adds, 0.0938. One row of 32 columns
costs 1 + 4. 4 rows of 8 columns, or 8 of 4, cost 1 + 1: 2 / 32 = 0.0625, the least for 32 lanes. Fewer lanes with work do not help:
a warp of a single lane has two sectors for one multiply-add.

A thread that computes one element asks for one of A and one of B in each step: 2 requests for a multiply-add of a full warp, and more of a warp
that is not full. Fewer mean that threads share what they load, by shared memory, or that some compute several elements.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.check.case import Case, all_cases, drawn_gate_case, gate_case
from course_lib.check.operation import Tile
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.bounds import Bound, per_work_of, shared_bytes
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.spec import REQUESTS_LOADED, SECTORS_LOADED, Gate, Spec, per_work, tile_grid
from course_lib.kernels.kernel import ceil_div

EXERCISE = "03_first_kernel"
SHORT, LONG = 16, 32        # a block of 16 × 16 threads covers 16 × 32 elements, 32 along x


def element_of(block_x: int, block_y: int, warp: int, lane: int, bx: int, by: int) -> tuple[int, int]:
    """Return (row, col) of a thread, by counting the threads of the block in the order of the hardware: x first, then y.

    >>> element_of(0, 0, 0, 19, 16, 16)
    (1, 3)
    """
    threads = ((x, y) for y in range(by) for x in range(bx))
    x, y = next(itertools.islice(threads, 32 * warp + lane, None))
    return block_y * by + y, block_x * bx + x


def _element_mistake(given, got):
    """Name the mistake behind a wrong (row, col)."""
    block_x, block_y, warp, lane, bx, by = given
    row, col = element_of(*given)
    t = 32 * warp + lane
    y_first = (block_y * by + t % by, block_x * bx + t // by)
    known = (
        ((block_y * by, block_x * bx), "That is the block's first element, lane 0 of warp 0: where in it is lane {lane} of warp {warp}?"),
        ((col, row), "That is (col, row): the row comes first, and it comes from y"),
        ((row - block_y * by, col - block_x * bx), "That is its position in its block: the blocks before it are missing"),
        (element_of(block_x, block_y, 0, lane, bx, by), "That is lane {lane} of warp 0: each warp before "
                                                              "warp {warp} has 32 threads"),
        (element_of(block_y, block_x, warp, lane, bx, by), "block_x and block_y are exchanged: x counts along a row of C"),
        (y_first, "Threads are counted along x first: a warp fills rows of the block, not columns"),
        ((block_y * by + t // by, block_x * bx + t % by), "A row of the block has bx threads, not by"),
        ((block_y * bx + t // bx, block_x * by + t % bx), "A block covers by rows and bx columns, so block_y counts by rows each"),
        ((block_y * by + warp, block_x * bx + lane), "That takes a warp for a row of the block; it is 32 threads, "
                                                     "whatever bx = {bx} is"),
    )
    values = {"lane": lane, "warp": warp, "bx": bx}
    return next((says.format(**values) for wrong, says in known if tuple(got) == wrong), "") if isinstance(got, (tuple, list)) else ""


def _some_threads(rng):
    """Draw threads of blocks of several shapes."""
    for bx, by in ((16, 16), (32, 8), (8, 16), (4, 24), (64, 2), (1, 64)):
        thread = int(rng.integers(0, bx * by))
        yield int(rng.integers(0, 9)), int(rng.integers(0, 9)), thread // 32, thread % 32, bx, by


def two_element_cases(transposed: bool) -> tuple[Case, ...]:
    """Return inputs that add one demand after another, for blocks that cover 16 × 32 elements (transposed: 32 × 16)."""
    def case(name, short, long, K, *factors):
        M, N = (long, short) if transposed else (short, long)
        return Case(name, M, N, K, *factors)

    return (
        case("one whole block", 16, 32, 32),
        Case("square, several blocks", 64, 64, 64),
        case("rectangular, whole blocks", 48, 96, 112),
        case("rows or columns padded", 32, 64, 24, 1.0, 0.0, 5),
        Case("alpha and beta", 64, 64, 64, 1.5, -0.5),
        case("only first halves of blocks", 32, 16, 8),
        case("one more than whole blocks", 33, 65, 7),
        case("one less than whole blocks", 31, 63, 17, -1.0, 0.5),
        case("one more than half a block", 16, 17, 5, 2.0, 1.0, 3),
        Case("a single element", 1, 1, 1),
        Case("a row times a matrix", 1, 67, 37, 0.5, 2.0),
        Case("a matrix times a column", 67, 1, 3, 1.0, 0.0, 1),
        Case("primes, padded, alpha and beta", 37, 53, 41, 1.5, -0.5, 3),
        Case("large against a block, and prime", 101, 97, 103),
    )


def _drawn(tile, rng):
    """Draw sizes up to three blocks along each axis."""
    for number in range(3):
        alpha, beta = (float(np.float32(x)) for x in rng.uniform(-2, 2, 2))
        M, N, K = (int(rng.integers(1, 3 * LONG + 2)) for _ in range(3))
        yield Case(f"drawn input {number + 1}", M, N, K, alpha, beta if number else 0.0, int(rng.integers(0, 7)))


@dataclass(frozen=True)
class TwoElements(Sgemm):
    """SGEMM, whose wrong results are also compared with what a kernel for one block, or for square matrices, would give."""

    def guess(self, trial: Any, wrong: Any, tile: Tile, again: Callable) -> str:
        """Return which mistake would give this result; see `Sgemm.guess`."""
        found = _square_only(trial) or super().guess(trial, wrong, dict(zip(("BM", "BN"), _covered(self), strict=True)), again)
        return f"{found}. {where}" if (where := _unwritten(self, trial)) else found


def _covered(operation):
    """Return how many rows and columns of C a block covers."""
    return (LONG, SHORT) if operation.transposed else (SHORT, LONG)


def _unwritten(operation, trial):
    """Say which elements are left NaN, when they are those of all blocks but the first, or the second ones of the threads."""
    left = np.isnan(trial.matrices()[3])
    row, col = np.indices(left.shape)
    rows, cols = _covered(operation)
    second, step = (row % rows >= SHORT, "16 rows down") if operation.transposed else (col % cols >= SHORT, "16 columns on")
    outside = (row >= rows) | (col >= cols)
    known = (
        (second, f"These are the second elements of the threads, {step}"),
        (outside, "These are the elements of all blocks but (0, 0): row and col must begin where the thread's block begins"),
        (outside | second, f"All blocks write the same elements, one a thread: row and col must begin where the block begins, and each "
                           f"thread has a second element, {step}"),
    )
    return next((says for mask, says in known if left.any() and (left == mask).all()), "")


def _square_only(trial):
    """Say that N (or M) stands where K or a leading dimension belongs, when that gives the result."""
    case, transposed = trial.case, bool(trial.transposed)
    if case.pad or len({case.M, case.N, case.K}) < 3:
        return ""
    A, B, before, C = (m.astype(np.float64) for m in trial.matrices())
    size, name, other = (case.M, "M", "columns of B") if transposed else (case.N, "N", "rows of A")
    lines = case.N if transposed else case.M
    flat = trial.B if transposed else trial.A
    taken_as = [(A, B, "")]
    if (lines - 1) * size + case.K <= len(flat):
        taken = np.lib.stride_tricks.as_strided(flat, (lines, case.K), (4 * size, 4)).astype(np.float64)
        taken_as.append((A, taken.T, f"The {other} are taken {name} elements apart, and begin ldb apart") if transposed else
                        (taken, B, f"The {other} are taken {name} elements apart, and begin lda apart"))
    for left, right, says in taken_as:
        for terms in {case.K, min(size, case.K)}:
            short = f"The sum stops at k = {name} = {terms} and has K = {case.K} terms" if terms < case.K else ""
            result = case.alpha * left[:, :terms] @ right[:terms] + (case.beta * before if case.beta else 0)
            if (says or short) and np.abs(C - result).max() <= 1e-4 * np.abs(result).max():
                return ". ".join(filter(None, (says, short)))
    return ""


def _lanes_cases(tile):
    return all_cases({**tile, "BK": 16})


SECTORS = Gate("load sectors per multiply-add", per_work(SECTORS_LOADED), limit=0.07, starter=3 / 32, achievable=2 / 32,
               advice="Count the sectors of A and of B for one step, and divide by the lanes at work: which shape of a warp has fewest?")

BOUNDS = (
    Bound("bytes of shared memory", shared_bytes, most=0.0,
          high="This part asks for the shape of a warp alone: do not use shared memory, which saves sectors in another way"),
    Bound("load requests per multiply-add of a warp", per_work_of(REQUESTS_LOADED, times=32), least=2.0,
          low="A thread that computes one element asks for one of A and one of B in each step. Fewer requests mean that threads compute "
              "more than one element: let each of the BM · BN threads compute one element of the tile"),
)


def _two(part, entry, transposed, grid):
    return Spec(EXERCISE, part, "Part 2: two elements a thread, any M, N and K", entry, TwoElements(transposed), (), grid=grid,
                block=lambda tile: (SHORT, SHORT, 1), cases=lambda tile: two_element_cases(bool(transposed)),
                gate_case=lambda tile: Case("counters", 64, 64, 64),
                drawn=_drawn)


PARTS = (
    FunctionSpec(EXERCISE, "element", "Part 1: whose element is it?", "element", ("block_x", "block_y", "warp", "lane", "bx", "by"),
                 cases=((0, 0, 0, 0, 16, 16), (0, 0, 0, 19, 8, 16), (0, 0, 0, 19, 16, 16), (0, 0, 3, 19, 16, 16), (2, 1, 0, 19, 16, 16),
                        (2, 1, 3, 31, 32, 8), (5, 3, 1, 7, 8, 16), (1, 4, 2, 30, 4, 24), (0, 7, 3, 1, 64, 2)),
                 drawn=_some_threads, expected=element_of, guess=_element_mistake),
    _two("main", "two_columns", "", lambda case, tile: (ceil_div(case.N, LONG), ceil_div(case.M, SHORT), 1)),
    _two("main-b", "two_rows", "ABC", lambda case, tile: (ceil_div(case.M, LONG), ceil_div(case.N, SHORT), 1)),
    Spec(EXERCISE, "lanes", "Part 3: the shape with the fewest sectors", "lanes", Sgemm("A"), ("BM", "BN"), grid=tile_grid,
         block=lambda tile: (tile["BM"] * tile["BN"], 1, 1), cases=_lanes_cases, gate_case=lambda tile: gate_case({**tile, "BK": 16}),
         gate_drawn=lambda tile, rng: drawn_gate_case({**tile, "BK": 16}, rng), gates=(SECTORS,),
         bounds=BOUNDS),
)
