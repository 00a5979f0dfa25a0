"""Exercise 14, "Fuse bias and activation": count passes over C, then finish the sums in registers, then mask while tiles are loaded.

All kernels compute tiles of 32 × 32 with 32 × 8 threads, and a thread 4 elements of a column. A warp covers 32 neighbours in a row: 4
sectors for 32 elements of C, 1/8 an element, for each time that C is stored or loaded. So much costs the bias too, where each element
loads it; a thread that keeps it for its 4 rows makes 1/32 of that.

Part 2, sectors per element of C, read at K = 8, so that what surrounds the sum shows. A tile of 1024 elements loads 32 rows of A, a sector
each, and 8 rows of B, 4 sectors each: 64 / 1024 = 1/16. The starter stores C three times, 3/8, and loads it twice and a bias for each
element: 1/16 + 3/8 = 0.4375. Fused: stored once, 1/8; loaded 1/16 + 1/32 = 0.09375. A second pass over C alone adds 1/8 to both, a bias
for each element makes the loads 3/16: the limits, 0.15 and 0.1, lie below. A and B alone take K / 128
sectors per element; beyond those the count is the same for each K, so that a drawn one can be read by the same limit.

Part 3, sectors loaded per multiply-add. A step of a tile has 32³ of them and loads 32 rows of 4 sectors from A, from H and from B, as it
is stored: 3 · 128 / 32768 = 0.0117. The starter asks H at each multiply-add, where all lanes of a warp want one element:
1/32 + 256 / 32768 = 0.0391.
"""

from collections.abc import Callable
from dataclasses import replace

from course_lib import simt
from course_lib.check.case import whole_sectors
from course_lib.check.layer import TILE, Back, Layer, LayerCase, batches, drawn, forward_batches, leaky
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.spec import SECTORS_LOADED, SECTORS_STORED, Gate, Reading, Spec, per_work, tile_grid

EXERCISE = "14_gemm_at_work"

ONCE = 1 / 8           # sectors of an element of C
AB = 1 / 16            # of A and B for an element of C, in each 8 steps along K


def loaded(report: simt.Report, work: float) -> Reading:
    """Read the sectors loaded for each element of C, those of A and B as with K = 8; fewer than A and B fill are none.

    Each row of tiles of C loads A's rows once for each of its tiles, each column of tiles B's columns; what is left over is C and the bias.
    """
    reading = per_work(SECTORS_LOADED)(report, work)
    needed = _depth(report, work) / 8 * AB
    if reading.value < needed:
        return Reading(float("inf"), f"{reading.words}: fewer than A and B fill, so some of it moves in a way that is not counted here")
    return Reading(reading.value - needed + AB, reading.words, reading.shares)


def _depth(report: simt.Report, work: float) -> int:
    """Return K of a launch, from the bytes of B, the bias and C, whatever the padding: B has K rows, and C has M that begin as far apart."""
    _, B, N, C = (array.nbytes // array.itemsize for array in report.arrays)
    rows = work // N
    return int((B - N) // ((C - N) // (rows - 1)) + 1)


def at_least(counter: str, least: float) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads sectors divided by the work; fewer than the data fill are read as infinitely many."""
    plain = per_work(counter)

    def read(report, work):
        reading = plain(report, work)
        if reading.value < least:
            return Reading(float("inf"), f"{reading.words}: fewer than the data fill, so some of it moves in a way that is not counted here")
        return reading

    return read


LOADED = Gate("global sectors loaded per element of C", loaded, limit=0.1, starter=1 / 16 + 3 * ONCE,
              achievable=1 / 16 + ONCE / 4,
              advice="Finish each element in its register and load nothing of C; load the bias once, before the loop over a thread's rows: "
                     "the compiler merges no loads that stand behind a guard for each row, or behind stores to C")
STORED = Gate("global sectors stored per element of C", at_least(SECTORS_STORED, ONCE), limit=0.15, starter=3 * ONCE, achievable=ONCE,
              advice="Store each element of C once, when it is finished")
MASKED = Gate("global sectors loaded per multiply-add", at_least(SECTORS_LOADED, 3 / 256), limit=0.014, starter=1 / 32 + 2 / 256, achievable=3 / 256,
              advice="Ask H once for each element of A's tile, when the tile is filled", sectors="load")


def passes(M: int, N: int, rows: int) -> tuple[int, int]:
    """Return what is loaded and stored after the sums, by separate kernels and by a fused one, sector by sector of each warp.

    >>> passes(64, 64, 4)
    (3072, 640)
    """
    row = sum(len({col // 8 for col in range(first, min(first + 32, N))}) for first in range(0, N, 32))
    product, bias, activation = (1, 1 + 2, 2)     # C stored; C and the bias loaded, C stored; C loaded and stored
    return sum(row * (product + bias + activation) for _ in range(M)), sum(row for _ in range(M)) + sum(row for _ in range(0, M, rows))


def _guess(given, got):
    """Name the mistake behind a wrong pair."""
    M, N, rows = given
    row = -(-N // 8)
    known = (
        (0, 6 * M * N / 8, "A sector is moved whole: a row of N elements has N / 8 of them, rounded up"),
        (0, 6 * M * N, "That counts elements; a sector has 8"),
        (0, 5 * M * row, "The bias is missing: the second kernel loads one for every element of C, as many sectors as C has"),
        (0, 5 * M * row + row, "Each row of C needs the bias again: the second kernel loads one for every element of C"),
        (0, M * N, "So many elements has C; what is asked is how many sectors pass, each time that C or the bias is loaded or stored"),
        (0, 3 * M * row, "Those are the stores alone; two of the three kernels also load C, and one the bias"),
        (0, 4 * M * row, "The third kernel moves C too: it loads and stores all of it"),
        (1, M * row, "The fused kernel stores C once, and it loads the bias as well"),
        (1, 2 * M * row, "A thread of the fused kernel loads its bias once and keeps it for its `rows` elements"),
        (1, M * row + row, "The bias is loaded by every warp, for `rows` rows of C at a time, not once in all"),
        (1, 3 * M * row, "The fused kernel never loads C: the sum is in a register"),
    )
    right = passes(M, N, rows)
    return next((says for which, value, says in known if got[which] == value != right[which]), "")


def _sizes(rng):
    """Draw sizes: whole warps and others."""
    for rows in (1, 2, 4, 8):
        yield from ((rows * int(rng.integers(1, 20)), int(rng.integers(1, 150)), rows) for _ in range(3))


def _grown(tile, rng, counted):
    """Return another input for counters, of whole tiles, and deeper than `counted`."""
    M, N, K = (size * int(times) for size, times in zip((32, 32, counted.K), rng.integers((1, 1, 2), (4, 4, 5)), strict=True))
    return replace(counted, name="counters, of a drawn size", M=M, N=N, K=K, pad=whole_sectors(rng))


def _part(part, title, entry, operation, cases, counted, gates, more=drawn):
    return Spec(EXERCISE, part, title, entry, operation, (), grid=lambda case, tile: tile_grid(case, TILE), block=lambda tile: (32, 8, 1),
                cases=lambda tile: cases, gate_case=lambda tile: counted, gates=gates, drawn=more,
                gate_drawn=lambda tile, rng: _grown(tile, rng, counted))


SHORT, DEEP = LayerCase("counters", 64, 64, 8), LayerCase("counters", 64, 64, 32)      # tiles of C are whole; one step along K
PARTS = (
    FunctionSpec(EXERCISE, "passes", "Part 1: count the passes", "passes", ("M", "N", "rows"),
                 ((64, 64, 4), (64, 64, 1), (32, 8, 4), (40, 96, 8), (8, 10, 4), (64, 50, 2), (1, 1, 1)), _sizes, passes, guess=_guess),
    _part("main", "Part 2: fuse bias and ReLU", "layer", Layer(), forward_batches(), SHORT, (LOADED, STORED)),
    _part("main-b", "Part 2: fuse bias and leaky ReLU", "leaky_layer", Layer(leaky=True), leaky(forward_batches()), leaky([SHORT])[0],
          (LOADED, STORED), lambda tile, rng: leaky(drawn(tile, rng))),
    _part("back", "Part 3: mask on the way back", "back", Back("B"), batches(), DEEP, (MASKED,)),
)
