"""Exercise 21, "Fewer wavefronts than Triton": what a step takes of shared memory, then a kernel that rounds before it stores there.

A step is 64 × 64 × 32 multiply-adds of a block with four warps, two along rows and two along columns. As floats, the tiles of A and B have
16,384 bytes: 128 wavefronts to store them. Each warp loads half of A's tile and half of B's, and two warps load the same half: 256. Triton's
kernel has 128 of conflicts besides, 512 in all. As bfloat16 it is half of 384, 192.

The starter stores floats, as Triton does, in rows that are not padded. A step has 64 loads of A with 8 wavefronts each, as 8 rows meet in the
same banks, and 128 loads of B with 4: 128 + 512 + 512 = 1152.

Without shared memory each warp would load its halves of both tiles from global memory, at least 1024 sectors for each step. So sectors may be at most
the 512 that Triton's kernel loads, which is each element once.
"""

import numpy as np

from course_lib import simt
from course_lib.check.case import Case, all_cases, whole_sectors
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import products_on_tensor_cores
from course_lib.grading.judge.spec import SECTORS_LOADED, Gate, Reading, Spec, by_line, tile_grid
from course_lib.run import counter_name

EXERCISE = "21_compiler"
TILE = {"BM": 64, "BN": 64, "BK": 32}
STEP = 64 * 64 * 32                      # multiply-adds
LINE = 128                               # bytes of a wavefront
COPIED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
WAVEFRONTS = (counter_name("wavefronts", "load"), counter_name("wavefronts", "store"), COPIED)


def wavefronts(report: simt.Report, work: float) -> Reading:
    """Read the wavefronts of shared memory, of loads, stores and asynchronous copies, for a step."""
    count, steps = sum(report.counters[name] for name in WAVEFRONTS), work / STEP
    return Reading(count / steps, f"{count} / {steps:.0f} steps", by_line(report, WAVEFRONTS))


def sectors(report: simt.Report, work: float) -> Reading:
    """Read the global sectors that are loaded for a step."""
    count, steps = report.counters[SECTORS_LOADED], work / STEP
    return Reading(count / steps, f"{count} / {steps:.0f} steps", by_line(report, (SECTORS_LOADED,)))


def step(BM: int, BN: int, BK: int, size: int, rows: int, cols: int) -> tuple[float, float]:
    """Return the wavefronts without conflicts that a step takes to store both tiles, and to load what the warps need.

    >>> step(64, 64, 32, 4, 2, 2), step(64, 64, 32, 2, 2, 2)
    ((128.0, 256.0), (64.0, 128.0))
    """
    return (BM + BN) * BK * size / LINE, (cols * BM + rows * BN) * BK * size / LINE


def _guess(given: tuple[int, ...], got: object) -> str:
    """Say which mistake gives the first wrong number of two."""
    if not isinstance(got, tuple | list) or len(got) != 2:
        return "Return two numbers: wavefronts to store both tiles, and to load what the warps need"
    BM, BN, BK, size, rows, cols = given
    stored, loaded = step(*given)
    if got[0] != stored:
        known = {stored / size: "Stored: that counts numbers; a wavefront moves 128 bytes", stored * size: "Stored: that counts wavefronts as bytes",
                 stored / size * 4: "Stored: a number has `size` bytes, not always 4",
                 BM * BN * size / LINE: "Stored: the tiles are of A and B, not of C"}
        return known.get(got[0], "Look at what is stored: both tiles, each number once")
    known = {stored: "Loaded: what several warps need each of them loads",
             stored * rows * cols: "Loaded: a warp needs its own rows of A and its own columns of B, not all of both tiles",
             (rows * BM + cols * BN) * BK * size / LINE: "Loaded: a row of A is needed by the warps beside each other, `cols` of them"}
    return known.get(got[1], "Look at what is loaded: how many warps need a row of A, and how many a column of B?")


def _drawn(rng):
    for _ in range(6):
        rows, cols = (2 ** int(n) for n in rng.integers(0, 3, 2))
        BM, BN, BK = 32 * rows * int(rng.integers(1, 3)), 32 * cols * int(rng.integers(1, 4)), 16 * int(rng.integers(1, 5))
        yield BM, BN, BK, 2 ** int(rng.integers(0, 4)), rows, cols


def _sizes(tile, rng):
    for number, (M, N, K) in enumerate(rng.integers(1, 150, (3, 3)).tolist(), 1):
        alpha, beta = (float(np.float32(x)) for x in rng.uniform(-2, 2, 2))
        yield Case(f"drawn input {number}", M, N, K, alpha, beta if number > 1 else 0.0, int(rng.integers(0, 7)))


def _counted(tile, rng):
    M, N, K = (size * int(n) for size, n in zip((64, 64, 32), rng.integers((1, 2, 3), (3, 4, 9)), strict=True))
    return Case("counters, of a drawn size", M, N, K, pad=whole_sectors(rng))


PARTS = (
    FunctionSpec(EXERCISE, "step", "Part 1: what a step takes", "step", ("BM", "BN", "BK", "size", "rows", "cols"),
                 ((64, 64, 32, 4, 2, 2), (64, 64, 32, 2, 2, 2), (64, 64, 32, 4, 4, 1), (128, 64, 32, 2, 2, 2), (64, 128, 16, 1, 1, 4)),
                 _drawn, step, tolerance=1e-9, guess=_guess),
    Spec(EXERCISE, "main", "Part 2: round first", "rounded", Sgemm(inputs="bf16"), (), drawn=_sizes, grid=lambda case, tile: tile_grid(case, TILE),
         block=lambda tile: (128, 1, 1), cases=lambda tile: all_cases(TILE), gate_case=lambda tile: Case("counters", 64, 64, 256),
         gate_drawn=_counted, made_of=(products_on_tensor_cores,), gates=(
             Gate("wavefronts of shared memory per step of 64 × 64 × 32", wavefronts, 256.0, 1152.0, 192.0,
                  "Round before you store: bfloat16 has half the bytes. Then let no bank conflict remain"),
             Gate("global sectors loaded per step of 64 × 64 × 32", sectors, 512.0, 512.0, 512.0,
                  "Load each element of both tiles once for the block, and let its warps share it by shared memory"))),
)
