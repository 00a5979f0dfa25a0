"""Exercise 16, "Multiply with tensor cores": the bound of a rounded product, a tile of 16 × 16 by `wmma`, then float32's accuracy.

The gate counts arithmetic instructions of a warp for 2048 multiply-adds of the product, as many as one matrix instruction does in bfloat16
(16 × 8 × 16). Lanes take 64 FFMA for them. What comes once for an element of C, `alpha * acc + …`, is one FFMA more: with K = 128 there are
2048 / 128 = 16 elements, half an instruction of a warp. So the starters take 64.5 and the bfloat16 kernel 1 + 0.5. In TF32 `wmma` needs 4
matrix instructions (16 × 8 × 4 each) and `mma` 2, at best 2.5. Two warps with the same tile: 2.5.

The split takes 6 matrix instructions. A number is split by two subtractions: (BM + BN) · BK numbers of the tiles for BM · BN · BK
multiply-adds, 2 · (32 + 32) / (32 · 32) = 1/8 with 32 × 32, which is 8 of 64. Each element of C gets a sum of 16 terms added, 1/16, or 4.
6 + 8 + 4 + 0.5 = 18.5; all nine products make 21.5. Six products and larger tiles cost less.

A multiply-add that no tensor core did counts as one FFMA of a lane, whatever took its place: integers, half precision, nothing at all.

Matrix instructions could multiply zeros, or ones, while lanes multiply integers, which nothing counts. So C must be 0 when they add nothing, and
change otherwise than by a factor when one of each warp adds nothing.
"""

import math

from course_lib import simt
from course_lib.check.case import Case, all_cases, whole_sectors
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import products_on_tensor_cores
from course_lib.grading.judge.spec import Gate, Reading, Spec, tile_grid
from course_lib.kernels.kernel import ceil_div

NAME = "arithmetic instructions of a warp per 2048 multiply-adds"
MATRIX = "smsp__inst_executed_pipe_tensor_op_hmma.sum"
OF_LANES = tuple(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("ffma", "fadd", "fmul", "dfma", "dadd", "dmul"))
PRODUCTS = 16 * 8 * 16         # multiply-adds of the largest matrix instruction in bfloat16
U = 2.0**-24                   # what rounding a sum to float32 costs at most
WMMA = "Let a warp multiply 16 × 16 by 16 × 16 with wmma::mma_sync, each tile of C in one warp only, in bfloat16"
SPLIT = "Six products of parts on tensor cores do: small ones first, and nothing of the product itself by the lanes"


def arithmetic(report: simt.Report, work: float) -> Reading:
    """Read the arithmetic instructions of a warp for 2048 multiply-adds, on tensor cores and by lanes."""
    count = report.counters
    lanes = max(sum(count[name] for name in OF_LANES), work - PRODUCTS * count[MATRIX]) / 32
    shares = {line: total for line, values in report.lines.items()
              if (total := values.get(MATRIX, 0) + sum(values.get(name, 0) for name in OF_LANES) / 32)}
    words = f"{count[MATRIX]} on tensor cores and {lanes:.0f} by lanes / {work // PRODUCTS}"
    return Reading(PRODUCTS * (count[MATRIX] + lanes) / work, words, shares)


def _threads(tile):
    """Return a block: a warp for each 16 × 16 of its tile of C."""
    return (32 * ceil_div(tile["BM"], 16) * ceil_div(tile["BN"], 16), 1, 1)


def _part(part, title, entry, operation, gate):
    return Spec("16_tensor_cores", part, title, entry, operation, ("BM", "BN", "BK"), grid=tile_grid, block=_threads, cases=all_cases,
                gate_case=lambda tile: Case("counters", 2 * tile["BM"], 2 * tile["BN"], 128), gates=(gate,),
                gate_drawn=_counted, made_of=(products_on_tensor_cores,))


def _counted(tile, rng):
    rows, cols, depth = (int(number) for number in rng.integers((1, 3, 1), (4, 5, 3)))
    return Case("counters, of a drawn size", rows * tile["BM"], cols * tile["BN"], depth * 128, pad=whole_sectors(rng))


def bound(bits: int, K: int) -> float:
    """Return by how much of Σ |a| |b| a sum of K products may be off: both factors rounded to `bits` bits, K - 1 additions in float32.

    >>> round(bound(8, 1) * 2**8, 3), round(bound(24, 3) * 2**24, 3)
    (2.004, 4.0)
    """
    return math.expm1(2 * math.log1p(2.0**-bits) + (K - 1) * math.log1p(U))


def _drawn(rng):
    return [(int(rng.integers(8, 25)), int(2 ** rng.uniform(0, 14))) for _ in range(6)]


def _guess(given, got):
    """Say which mistake gives this number."""
    bits, K = given
    v, sums = 2.0**-bits, (K - 1) * U
    mistakes = {
        "Two factors are rounded, each by up to 2^-bits (`bits` counts the 1 before the point), and both errors count": v + sums,
        "Rounding to the nearest costs at most half of the last bit, which is worth 2^(1 - bits): 2^-bits for each factor": 4 * v + sums,
        "A sum of K terms takes K - 1 additions: the first term is added to nothing": 2 * v + K * U,
        "Each addition rounds its sum, too: K - 1 times, by up to 2^-24": 2 * v,
        "Every term is off by the same share of itself, so their sum is, too: only the additions grow with K": 2 * v * K + sums,
        "The sums stay in float32, whatever the factors are rounded to": 2 * v + (K - 1) * v,
        "Shares of an error add up when numbers are multiplied, (1 + v)(1 + v) is about 1 + 2 v": v * v + sums,
    }
    return next((says for says, value in mistakes.items() if abs(got - value) <= 0.001 * value), "") if isinstance(got, int | float) else ""


PARTS = (
    FunctionSpec("16_tensor_cores", "bound", "Part 1: how far off may it be?", "bound", ("bits", "K"),
                 ((8, 1), (11, 1), (8, 4096), (11, 4096), (24, 2), (24, 1000), (16, 2000)), _drawn, bound, tolerance=0.01, guess=_guess),
    _part("main", "Part 2: a tile of 16 × 16 for a warp", "tensor", Sgemm(inputs="bf16"), Gate(NAME, arithmetic, 2.0, 64.5, 1.5, WMMA)),
    _part("main-b", "Part 2: a tile of 16 × 16 for a warp (A stored column by column)", "tensor_at", Sgemm("A", "bf16"),
          Gate(NAME, arithmetic, 2.0, 64.5, 1.5, WMMA)),
    _part("split", "Part 3: float32's accuracy", "split", Sgemm(), Gate(NAME, arithmetic, 20.0, 64.5, 18.5, SPLIT)),
)
