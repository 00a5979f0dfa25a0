"""Exercise 20, "One scale for 32 numbers": the bound of a product in 8 bits with scales, then the product, on tensor cores.

The gate counts arithmetic instructions of a warp for 4096 multiply-adds of the product, as many as one matrix instruction does with numbers
of 8 bits (16 × 8 × 32), which is one block of 32 along K. Its 128 sums are multiplied by a product of two scales and added up in float32: 128
multiplications of scales and 128 multiply-adds of lanes, 4 instructions of a warp each. 1 + 4 + 4 = 9. The starter scales each number where
it multiplies it: two multiplications and a multiply-add for each multiply-add of the product, 3 · 4096 / 32 = 384.

A multiply-add that no tensor core did in 8 bits counts as one FFMA of a lane, as in exercise 16, and as there C must be made of what the
matrix instructions add.
"""

import numpy as np

from course_lib import simt
from course_lib.check.case import Case
from course_lib.check.scaled import BLOCK, LARGEST, TILE, Scaled, all_cases, drawn
from course_lib.grading.exercises.e16_tensor_cores import OF_LANES
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import products_on_tensor_cores
from course_lib.grading.judge.spec import Gate, Reading, Spec, tile_grid

EXERCISE = "20_few_bits"
MATRIX = "smsp__inst_executed_pipe_tensor_op_imma.sum"
PRODUCTS = 16 * 8 * 32               # multiply-adds of the largest matrix instruction in 8 bits
Blocks = tuple[tuple[float, float, float, float], ...]


def arithmetic(report: simt.Report, work: float) -> Reading:
    """Read the arithmetic instructions of a warp for 4096 multiply-adds, on tensor cores and by lanes."""
    count = report.counters
    lanes = max(sum(count[name] for name in OF_LANES), work - PRODUCTS * count[MATRIX]) / 32
    shares = {line: total for line, values in report.lines.items()
              if (total := values.get(MATRIX, 0) + sum(values.get(name, 0) for name in OF_LANES) / 32)}
    words = f"{count[MATRIX]} on tensor cores and {lanes:.0f} by lanes / {work / PRODUCTS:.0f}"
    return Reading(PRODUCTS * (count[MATRIX] + lanes) / work, words, shares)


def bound(blocks: Blocks, steps: float = 0.5) -> float:
    """Return by how much a sum of products may be off when both factors are stored in 8 bits.

    Parameters
    ----------
    blocks
        For each block of 32: the largest |a|, the sum of all |a|, the largest |b|, the sum of all |b|.
    steps
        By how many steps of its block a stored number is off at most.

    >>> round(bound(((1.27, 10.0, 2.54, 20.0),)), 6)
    0.2016
    """
    total = 0.0
    for largest_a, sum_a, largest_b, sum_b in blocks:
        off_a, off_b = steps * largest_a / LARGEST, steps * largest_b / LARGEST
        total += sum_a * off_b + sum_b * off_a + BLOCK * off_a * off_b
    return total


def _guess(given: tuple[Blocks], got: object) -> str:
    """Say which mistake gives this number."""
    blocks, = given
    if not isinstance(got, int | float):
        return ""
    off = [(a / LARGEST / 2, sums_a, b / LARGEST / 2, sums_b) for a, sums_a, b, sums_b in blocks]
    whole = tuple((max(b[0] for b in blocks), b[1], max(b[2] for b in blocks), b[3]) for b in blocks)
    mistakes = {
        "The nearest multiple is at most half a step away, not a whole step": bound(blocks, 1.0),
        "A step is the block's largest number / 127: 127 is the largest whole number that is stored": bound(blocks, LARGEST / 256),
        "Each block has a scale of its own: this is the bound with the largest scale for all": bound(whole),
        "Both factors are off at once: (a + x)(b + y) - a b = a y + b x + x y": sum(sa * y + sb * x for x, sa, y, sb in off),
        "x y comes once for each of the 32 products of a block": sum(sa * y + sb * x + x * y for x, sa, y, sb in off),
        "Each factor's error is multiplied by the other factor": sum(sa * x + sb * y + BLOCK * x * y for x, sa, y, sb in off),
    }
    return next((says for says, value in mistakes.items() if abs(got - value) <= 1e-9 * value), "")


def _blocks(rng):
    for _ in range(5):
        sizes = 2.0 ** rng.uniform(-6, 6, (int(rng.integers(1, 6)), 2, 1))
        numbers = np.abs(rng.uniform(-1, 1, (*sizes.shape[:2], BLOCK))) * sizes
        yield (tuple(tuple(float(x) for pair in zip(b.max(axis=1), b.sum(axis=1), strict=True) for x in pair) for b in numbers),)


def _counted(tile, rng):
    M, N, K = (BLOCK * int(n) for n in rng.integers((1, 3, 1), (4, 5, 5)))
    return Case("counters, of a drawn size", M, N, K, pad=8)


PARTS = (
    FunctionSpec(EXERCISE, "bound", "Part 1: how far off may it be?", "bound", ("blocks",),
                 ((((1.27, 10.0, 2.54, 20.0),),), (((1.0, 16.0, 1.0, 16.0), (1.0, 16.0, 1.0, 16.0)),), (((64.0, 900.0, 0.5, 6.0), (0.25, 3.0, 8.0, 120.0)),)),
                 _blocks, bound, tolerance=1e-9, guess=_guess),
    Spec(EXERCISE, "main", "Part 2: scales outside the products", "scaled", Scaled(), (), grid=lambda case, tile: tile_grid(case, TILE),
         block=lambda tile: (128, 1, 1), cases=all_cases, drawn=drawn, gate_case=lambda tile: Case("counters", 64, 64, 128),
         gate_drawn=_counted, made_of=(products_on_tensor_cores,),
         gates=(Gate("arithmetic instructions of a warp per 4096 multiply-adds", arithmetic, 12.0, 384.0, 9.0,
                     "Multiply whole numbers on tensor cores, one block of 32 at a time, and apply the scales to the block's sums"),)),
)
