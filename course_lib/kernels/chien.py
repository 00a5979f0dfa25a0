"""Volkov's kernel and Chien's methods: one source, column-major, by rank-1 updates."""

from collections.abc import Iterator, Mapping

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_SUMS_OF_THREAD, Parameter
from course_lib.kernels.rules import divides_rule, outer_tile_rule, sums_rule

# name: threads, vectors, columns, gap, guard, flag, what it is
METHODS = {
    "sgemm_volkov": (64, 1, 16, 1, 0, 0, "Volkov's kernel: a column of A in registers, a tile of B in shared memory"),
    "sgemm_method1": (64, 2, 16, 1, 0, 0, "method 1: two vectors of A share an element of B"),
    "sgemm_method2": (128, 2, 24, 1, 0, 0, "method 2: 24 columns, vectors of 128 rows"),
    "sgemm_method3": (64, 2, 24, 1, 0, 0, "method 3: 24 columns, vectors of 64 rows"),
    "sgemm_method4": (64, 4, 16, 8, 0, 0, "method 4: four vectors with a gap between them"),
    "sgemm_method5_v1": (64, 1, 16, 1, 1, 0, "method 5, version 1: any size, A is tested inside the loop"),
    "sgemm_method5_v2": (64, 1, 16, 1, 2, 0, "method 5, version 2: A is tested in the last tile only"),
    "sgemm_method5_v3": (64, 1, 16, 1, 3, 0, "method 5, version 3: rows that do not exist are clamped to the last"),
    "sgemm_method6": (64, 2, 16, 1, 3, 1, "method 6: method 1 for any size, one loop with a flag"),
    "sgemm_method7": (64, 2, 16, 8, 3, 0, "method 7: two vectors eight blocks apart, in one memory partition of the GT200"),
    "sgemm_method8": (64, 2, 20, 1, 3, 0, "method 8: 20 columns"),
}
LESSON, GUARDED = "09_outer_product", "10_any_size"
GUARDS = ("none: whole tiles only", "A tested in the loop", "A tested in the last tile", "rows clamped")


def _parameters(threads, vectors, cols, gap, guard, flag):
    """A method keeps its own gap and flag, which make it what it is; sliders offer the other numbers."""
    return (
        Parameter("THREADS", "rows of a vector of A", threads, choices=(64, 128)),
        Parameter("VECTORS", "vectors of A a block multiplies", vectors, high=8, choices=(1, 2, 4)),
        Parameter("COLS", "columns of C of a block", cols, high=MAX_SUMS_OF_THREAD, choices=(16, 20, 24)),
        Parameter("BK", "columns of A that a tile of B meets", 16, high=64, choices=(16,)),
        Parameter("GAP", "vectors of THREADS rows from one of a block's vectors to its next", gap, high=64, choices=(gap,)),
        Parameter("GUARD", "how A is guarded: " + ", ".join(f"{i} {g}" for i, g in enumerate(GUARDS)), guard, low=0, high=3,
                  choices=(0, 1, 2, 3) if gap == 1 and flag == 0 else (0, 3)),
        Parameter("SEL", "1: one loop for whole and for cut tiles of B", flag, low=0, high=1, choices=(flag,)),
    )


def block_rows(p: Mapping[str, int]) -> int:
    """Return the rows of C that GAP interleaved blocks cover together."""
    return p["THREADS"] * p["VECTORS"] * p["GAP"]


def _sizes(M, N, K, p):
    """Say why this kernel cannot multiply matrices of these sizes, or None."""
    if p["GUARD"] == 0:
        for name, size, unit in (("M", M, block_rows(p)), ("N", N, p["COLS"]), ("K", K, p["BK"])):
            if size % unit:
                return (f"it tests no index, so {name} must be a multiple of {unit}, not {size}: pad the matrix to "
                        f"{ceil_div(size, unit) * unit}, or take GUARD = 3")
    if p["GUARD"] == 2 and block_rows(p) > M:
        return (f"it reads rows beyond the last as long as they lie in A, which takes at least {block_rows(p)} rows; A has {M}: "
                "take GUARD = 3")
    return None


def kernels() -> Iterator[Kernel]:
    """Yield Volkov's kernel, Chien's methods, and the outer product for row-major matrices."""
    for name, (*values, idea) in METHODS.items():
        parameters = _parameters(*values)
        yield Kernel(
            name, FOLDER / "sgemm_outer.cu", "sgemm_outer", idea=idea,
            lesson=GUARDED if name.startswith(("sgemm_method5", "sgemm_method6")) else LESSON, layout="column", sizes_of=_sizes,
            parameters=parameters, passes=tuple(p.name for p in parameters),
            rules=(divides_rule("THREADS", "BK"), sums_rule(("VECTORS", "COLS"), MAX_SUMS_OF_THREAD, "a thread"), outer_tile_rule("COLS")),
            block_of=lambda p: (p["THREADS"], 1, 1),
            grid_of=lambda M, N, p: (ceil_div(M, block_rows(p)) * p["GAP"], ceil_div(N, p["COLS"]), 1),
            shared_of=lambda p: 4 * p["BK"] * (p["COLS"] + 1))
    yield Kernel(
        "sgemm_outer_rows", FOLDER / "sgemm_outer_rows.cu", "sgemm_outer_rows",
        idea="rank-1 updates for row-major matrices: rows of B in registers, a tile of A in shared memory", lesson=LESSON,
        parameters=(Parameter("THREADS", "columns of C of a block", 64, choices=(32, 64, 128)),
                    Parameter("ROWS", "rows of C of a block", 16, high=MAX_SUMS_OF_THREAD, choices=(8, 16, 24, 32)),
                    Parameter("BK", "columns of A that a block loads at a time", 16, high=64, choices=(4, 8, 16, 32))),
        rules=(divides_rule("THREADS", "BK"), sums_rule(("ROWS",), MAX_SUMS_OF_THREAD, "a thread"), outer_tile_rule("ROWS")),
        passes=("THREADS", "ROWS", "BK"), block_of=lambda p: (p["THREADS"], 1, 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["THREADS"]), ceil_div(M, p["ROWS"]), 1),
        shared_of=lambda p: 4 * p["BK"] * (p["ROWS"] + 1))
