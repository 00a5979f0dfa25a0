"""The kernels of Wong's report: transposition, product and sum as steps, and the fused product with transposed operands."""

from collections.abc import Iterator

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.ladder import BLOCK_XY, PAD, TILE
from course_lib.kernels.parameters import MAX_STATIC_SHARED, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED, divides_rule, threads_rule

TRANSPOSES = (Parameter("TRANSA", "1: A is stored transposed", 0, low=0, high=1, choices=(0, 1)),
        Parameter("TRANSB", "1: B is stored transposed", 0, low=0, high=1, choices=(0, 1)))
MOVED = (Parameter("TILE", "rows and columns of a tile", 32, high=64, choices=(8, 16, 32, 64)),
         Parameter("ROWS", "rows of threads of a block", 8, high=64, choices=(1, 2, 4, 8, 16)))


def tile_rule() -> Rule:
    """Return the rule that a tile with padded rows fits in static shared memory.

    >>> tile_rule().problem({"TILE": 128, "PAD": 1})
    'a tile of 128 × 129 floats takes 66048 bytes, but at most 49152 (48 KiB) of shared memory are allowed: take a smaller TILE'
    """
    def size(p):
        return 4 * p["TILE"] * (p["TILE"] + p["PAD"])

    def says(p):
        return (f"a tile of {p['TILE']} × {p['TILE'] + p['PAD']} floats takes {size(p)} bytes, but at most {MAX_STATIC_SHARED} (48 KiB) "
                "of shared memory are allowed: take a smaller TILE")
    return Rule(f"4 * TILE * (TILE + PAD) <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def power_rule() -> Rule:
    """Return the rule that TILE is a power of two.

    >>> power_rule().problem({"TILE": 24})
    'TILE = 24 is no power of two: it can be 16 or 32'
    """
    def says(p):
        below = 1 << (p["TILE"].bit_length() - 1)
        return f"TILE = {p['TILE']} is no power of two: it can be {below} or {2 * below}"
    why = ("the kernel finds a column by XOR, bit by bit; only when the columns are all the numbers of so many bits "
           "does the result stay in the row")
    return Rule("TILE & (TILE - 1) == 0", why, lambda p: not p["TILE"] & (p["TILE"] - 1), says)


def _tiles(M, N, p):
    return ceil_div(N, p["TILE"]), ceil_div(M, p["TILE"]), 1


def kernels() -> Iterator[Kernel]:
    """Yield the steps in their order, then the fused kernel."""
    yield _transposition("transpose_plain", "straight from row to column: the writes run down columns")
    yield _transposition("transpose", "a tile transposed in shared memory, with rows PAD words longer", (PAD,), (tile_rule(),),
                         lambda p: 4 * p["TILE"] * (p["TILE"] + p["PAD"]))
    yield _transposition("transpose_swizzled", "a tile transposed in shared memory, its columns mixed by XOR", (), (power_rule(),),
                         lambda p: 4 * p["TILE"] ** 2)
    yield Kernel(
        "sgemm_multiply", FOLDER / "sgemm_multiply.cu", "sgemm_multiply", idea="the bare product, for those who add afterwards",
        lesson="14_gemm_at_work", kind="multiply", parameters=(TILE,), rules=(threads_rule("TILE", "TILE"),), passes=("TILE",),
        block_of=lambda p: (p["TILE"], p["TILE"], 1), grid_of=_tiles, shared_of=lambda p: 8 * p["TILE"] ** 2)
    yield Kernel(
        "matrix_sum", FOLDER / "matrix_sum.cu", "matrix_sum", idea="alpha P + beta C, element by element",
        lesson="14_gemm_at_work", kind="sum", parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["bx"]), ceil_div(M, p["by"]), 1))
    yield Kernel(
        "sgemm_op", FOLDER / "sgemm_op.cu", "sgemm_op", idea="product and sum in one kernel; operands may be transposed",
        lesson="14_gemm_at_work", parameters=(TILE, *TRANSPOSES),
        rules=(threads_rule("TILE", "TILE"),), passes=("TILE", "TRANSA", "TRANSB"),
        block_of=lambda p: (p["TILE"], p["TILE"], 1), grid_of=_tiles, shared_of=lambda p: 8 * p["TILE"] * (p["TILE"] + 1))


def _transposition(name, idea, extra=(), rules=(), shared=lambda p: 0):
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="06_bank_conflicts", kind="transpose", parameters=(*MOVED, *extra),
        rules=(divides_rule("TILE", "ROWS"), threads_rule("TILE", "ROWS"), *rules), passes=("TILE", "ROWS", *(p.name for p in extra)),
        block_of=lambda p: (p["TILE"], p["ROWS"], 1), grid_of=_tiles, shared_of=shared)
