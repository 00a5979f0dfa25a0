"""Exercise 09, "Method 2's block": what a block costs, two vectors of A for each word of B, then four at hardly more registers.

A block has THREADS threads. Each holds VECTORS rows of COLS sums, its elements of A in registers; the tile of B, BK × COLS, is in shared
memory. For one k a block loads THREADS · VECTORS words of A and COLS of B, for THREADS · VECTORS · COLS multiply-adds: each costs
1 / COLS + 1 / (THREADS · VECTORS) words of global memory. All is read along columns, in whole sectors of 8 words. 1/16 + 1/64 = 0.0781 for
Volkov's block of 64 × 1 × 16, 1/24 + 1/256 = 0.0456 for method 2's of 128 × 2 × 24. Method 1's 64 × 2 × 16, halfway, has 0.0703.

A word of B serves VECTORS multiply-adds. Rows of the tile begin at multiples of 16 bytes, and the compiler joins four words to an
LDS.128: COLS / 4 loads for VECTORS · COLS multiply-adds, 1/4 for one vector, 1/8 for two, 1/12 for three, 1/16 for four.

Registers are the price. Nobody can derive how many the compiler takes: 72 for the 48 sums of method 2 as they are written here, 96 where
it unrolls the loop over k and loads elements of A early. 96 let five blocks of 128 threads stay on an SM, 20 warps, and leave out twice the
sums. Part 3 has 48 sums again, 64 × 4 × 12, and pays with loads of A: 1/12 + 1/256 = 0.0872. 80 registers let twelve blocks of 64 threads
stay, 24 warps, and leave out method 4's 64 sums, which take 96, or 80 and some local memory. With three vectors a load serves 12, 0.0833.

Variant b exchanges the roles, row-major matrices with rows of B in registers: the same numbers.

A kernel could have none of these loads, and bring words by `redux` or from global memory. So each thread reads one word of shared memory as
0, drawn from all: each product must have a factor from there, and an element of C that changes must miss one product.
"""

from dataclasses import replace

from course_lib import simt
from course_lib.check.case import Case, all_cases
from course_lib.check.case import drawn_gate_case
from course_lib.check.case import gate_case as counters_case
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.machine_code import counts_of, local_bytes, per_warp, registers
from course_lib.grading.judge.made_of import through_shared
from course_lib.grading.judge.spec import SECTORS_LOADED, Gate, Reading, Spec, per_work
from course_lib.kernels.kernel import ceil_div
from course_lib.toolchain import executed

EXERCISE = "09_outer_product"
MOST = 8              # vectors that inputs grow with; no thread has registers for the sums of more


def words_read(report: simt.Report, work: float) -> Reading:
    """Read the shared loads of a warp for each of its multiply-adds, and shuffles, which bring words of other threads instead."""
    loads = per_warp("shared instructions")(report, work)
    if all(instruction.base != "SHFL" for instruction in report.sass):
        return loads
    shuffles = executed(report.sass, counts_of(report)).total(opcode="SHFL")
    return Reading(loads.value + 32 * shuffles / work, f"{loads.words}, and {shuffles:.0f} shuffles", loads.shares)


def words_fetched(report: simt.Report, work: float) -> Reading:
    """Read how many words global memory delivers, in whole sectors of 8, for each multiply-add."""
    sectors = per_work(SECTORS_LOADED)(report, work)
    return Reading(8 * sectors.value, f"8 × {sectors.words}", sectors.shares)


def _gates(shared: tuple[float, float, float], fetched: tuple[float, float, float], taken: tuple[float, float, float]) -> tuple[Gate, ...]:
    """Return the gates; each argument is (limit, starter, achievable)."""
    return (
        Gate("shared loads per multiply-add of a warp", words_read, *shared,
             "A word of the tile, once in a register, shall serve all vectors: sums for each in one loop over k, rows of 4 n words"),
        Gate("words of global sectors loaded per multiply-add", words_fetched, *fetched,
             "More sums in a row share an element in a register, more threads and vectors share a tile", sectors="load"),
        Gate("registers of a thread", registers, *taken,
             "Each sum is a register, and so is each element loaded steps ahead: `#pragma unroll 1` on the loop over k, fewer sums"),
        Gate("bytes of a thread in local memory", local_bytes, 0.0, 0.0, 0.0),
    )


def _part(part, title, entry, gates, by_rows=False):
    """Return a part for column-major matrices, or for row-major ones: then a block's long side lies along N."""
    short = "ROWS" if by_rows else "COLS"

    def grid(case, tile):
        long, other = (case.N, case.M) if by_rows else (case.M, case.N)
        return ceil_div(long, tile["THREADS"] * tile["VECTORS"]), ceil_div(other, tile[short]), 1

    def sizes(tile):
        long = tile["THREADS"] * min(tile["VECTORS"], MOST)
        rows, columns = (tile[short], long) if by_rows else (long, tile[short])
        return {"BM": rows, "BN": columns, "BK": tile["BK"]}

    return Spec(EXERCISE, part, title, entry, Sgemm("" if by_rows else "ABC"), ("THREADS", "VECTORS", short, "BK"), grid=grid,
                block=lambda tile: (tile["THREADS"], 1, 1), cases=lambda tile: _cases(sizes(tile)),
                gate_case=lambda tile: counters_case(sizes(tile)), gates=gates, drawn=lambda tile, rng: _drawn(sizes(tile), rng),
                gate_drawn=lambda tile, rng: drawn_gate_case(sizes(tile), rng), made_of=(through_shared(1),))


def _cases(size):
    """Return whole tiles, then a square, where swapped operands show for what they are, then all that leaves tiles partly filled."""
    first, *others = all_cases(size)
    return replace(first, name="whole tiles"), Case("square", 96, 96, 96), *others


def _drawn(size, rng):
    for number in range(3):
        M, N, K = (int(rng.integers(1, 2 * size[name] + 2)) for name in ("BM", "BN", "BK"))
        alpha, beta = (float(x) for x in rng.uniform(-2, 2, 2).astype("float32"))
        yield Case(f"drawn input {number + 1}", M, N, K, alpha, beta if number else 0.0, int(rng.integers(0, 7)))


def costs(threads: int, vectors: int, columns: int) -> tuple[int, float, float]:
    """Return a thread's sums, and the words of shared and of global memory for each multiply-add.

    >>> costs(128, 2, 24)
    (48, 0.5, 0.045572916666666664)
    """
    return vectors * columns, 1 / vectors, 1 / columns + 1 / (threads * vectors)


def _drawn_blocks(rng):
    yield from ((32 * int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(4, 33))) for _ in range(4))


def _guess(given, got):
    """Say which mistake gives the first wrong number of three."""
    threads, vectors, columns = given
    once = 1 / (threads * vectors)
    mistakes = (
        {"sums: those are the sums of all threads of the block": threads * vectors * columns,
         "sums: each vector has its own set of sums": columns},
        {"shared: a word of b, once in a register, serves the multiply-adds of all rows of a thread": 1.0,
         "shared: those are the words for one k, which all multiply-adds of the thread for it share": columns,
         "shared: that is upside down: words per multiply-add, not multiply-adds per word": vectors,
         "shared: A does not come from shared memory": 1 / vectors + 1 / columns},
        {"loaded: the tile of B is loaded too, by the block together": 1 / columns,
         "loaded: the elements of A are loaded too, by each thread for itself": once,
         "loaded: each thread loads not the whole tile of B but its share of it": 1 / columns + 1 / vectors,
         "loaded: the tile of B serves all vectors of the block": 1 / columns + 1 / threads,
         "loaded: each element of A that a thread loads serves a whole row of its sums": vectors / columns + once},
    )
    for value, right, known in zip(got, costs(*given), mistakes, strict=True):
        if not _close(value, right):
            return next((says for says, other in known.items() if _close(value, other)), "")
    return ""


def _close(value, other):
    return abs(value - other) <= 1e-9 * abs(other)


MAIN = _gates((0.15, 1 / 4, 1 / 8), (0.05, 1 / 16 + 1 / 64, 1 / 24 + 1 / 256), (96.0, 48.0, 72.0))
FOUR = _gates((0.07, 1 / 4, 1 / 16), (0.09, 1 / 16 + 1 / 64, 1 / 12 + 1 / 256), (80.0, 48.0, 80.0))

PARTS = (
    FunctionSpec(EXERCISE, "costs", "Part 1: what a block costs", "costs", ("threads", "vectors", "columns"),
                 ((64, 1, 16), (64, 2, 16), (128, 2, 24), (64, 2, 24), (64, 4, 16), (64, 2, 20)),
                 _drawn_blocks, costs, tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: method 2's block", "outer", MAIN),
    _part("main-b", "Part 2: method 2's block (rows of B in registers)", "outer_rows", MAIN, by_rows=True),
    _part("four", "Part 3: four vectors", "four", FOUR),
)
