"""The ladder of Lee's slides and beyond: one step after another from a thread per element to double buffering."""

from collections.abc import Iterator
from dataclasses import replace

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_STATIC_SHARED, MAX_SUMS_OF_BLOCK, MAX_SUMS_OF_THREAD, Parameter
from course_lib.kernels.rules import (
    at_most_rule,
    divides_rule,
    even_loads_rule,
    padded_tiles_rule,
    shared_out_threads_rule,
    square_rule,
    sums_rule,
    threads_rule,
    tiles_rule,
    vectors_rule,
    warp_rule,
    warps_rule,
)

DEEPEST = MAX_STATIC_SHARED // (2 * 4)     # columns of float32 where a tile of A has one row, and a tile of B one column
BLOCK_XY = (
    Parameter("bx", "threads of a block along x", 16, choices=(1, 2, 4, 8, 16, 32, 64, 128, 256)),
    Parameter("by", "threads of a block along y", 16, choices=(1, 2, 4, 8, 16, 32, 64, 128, 256)),
)
TILE_MNK = (
    Parameter("BM", "rows of C a block computes", 32, choices=(4, 8, 16, 32)),
    Parameter("BN", "columns of C a block computes", 32, choices=(4, 8, 16, 32)),
    Parameter("BK", "columns of A a block loads at a time", 32, high=DEEPEST, choices=(4, 8, 16, 32, 64)),
)
TILE_1D = (
    Parameter("BM", "rows of C a block computes", 64, choices=(16, 32, 64, 128)),
    Parameter("BN", "columns of C a block computes", 64, choices=(16, 32, 64, 128)),
    Parameter("BK", "columns of A a block loads at a time", 8, high=DEEPEST, choices=(8, 16)),
    Parameter("TM", "rows of C a thread computes", 8, high=MAX_SUMS_OF_THREAD, choices=(1, 2, 4, 8)),
)
TILE_2D = (
    Parameter("BM", "rows of C a block computes", 128, choices=(32, 64, 128)),
    Parameter("BN", "columns of C a block computes", 128, choices=(32, 64, 128)),
    Parameter("BK", "columns of A a block loads at a time", 8, high=DEEPEST, choices=(8, 16)),
    Parameter("TM", "rows of C a thread computes", 8, high=MAX_SUMS_OF_THREAD, choices=(1, 2, 4, 8)),
    Parameter("TN", "columns of C a thread computes", 8, high=MAX_SUMS_OF_THREAD, choices=(1, 2, 4, 8)),
)
TILE = Parameter("TILE", "rows and columns of a tile", 16, high=32, choices=(4, 8, 16, 32))
PAD = Parameter("PAD", "unused words at the end of each row of the tile", 1, low=0, high=32, choices=(0, 1, 2, 4, 8, 16))
UNROLL = Parameter("UNROLL", "steps of the inner loop written out", 16, high=32, choices=(1, 2, 4, 8, 16))
TILE_WARP = (
    Parameter("BM", "rows of C a block computes", 128, choices=(64, 128, 256)),
    Parameter("BN", "columns of C a block computes", 128, choices=(64, 128, 256)),
    Parameter("BK", "columns of A a block loads at a time", 8, high=DEEPEST, choices=(8, 16)),
    Parameter("WM", "rows of C a warp computes", 64, choices=(32, 64, 128)),
    Parameter("WN", "columns of C a warp computes", 32, choices=(32, 64, 128)),
    Parameter("TM", "rows of C a thread computes", 8, high=MAX_SUMS_OF_THREAD, choices=(4, 8)),
    Parameter("TN", "columns of C a thread computes", 8, high=MAX_SUMS_OF_THREAD, choices=(4, 8)),
)


def _tile_bytes(p):
    return 4 * (p["BM"] * p["BK"] + p["BK"] * p["BN"])


def _tile_grid(M, N, p):
    return ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1


def kernels() -> Iterator[Kernel]:
    """Yield the kernels in the order of the ladder."""
    yield Kernel(
        "sgemm_swapped", FOLDER / "sgemm_swapped.cu", "sgemm_swapped",
        idea="a thread per element, rows and columns the wrong way round", lesson="03_first_kernel",
        parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(M, p["bx"]), ceil_div(N, p["by"]), 1))
    yield Kernel(
        "sgemm_naive", FOLDER / "sgemm_naive.cu", "sgemm_naive",
        idea="a thread per element, everything from global memory", lesson="03_first_kernel",
        parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["bx"]), ceil_div(M, p["by"]), 1))
    yield Kernel(
        "sgemm_tiled", FOLDER / "sgemm_tiled.cu", "sgemm_tiled",
        idea="tiles of A and B in shared memory, each element loaded once a block", lesson="04_tiling",
        parameters=TILE_MNK, rules=(threads_rule("BN", "BM"), tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK"),
        block_of=lambda p: (p["BN"], p["BM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)
    yield from _pairs()
    yield Kernel(
        "sgemm_1d_tile", FOLDER / "sgemm_1d_tile.cu", "sgemm_1d_tile",
        idea="TM elements of a column for each thread, an element of B used TM times from a register",
        lesson="08_register_blocking",
        parameters=TILE_1D,
        rules=(divides_rule("BM", "TM"), shared_out_threads_rule(("BN",), ("BM", "TM")),
               sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"), tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK", "TM"),
        block_of=lambda p: (p["BN"], p["BM"] // p["TM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)
    yield Kernel(
        "sgemm_2d_tile", FOLDER / "sgemm_2d_tile.cu", "sgemm_2d_tile",
        idea="TM × TN elements for each thread, an outer product in registers for each k", lesson="08_register_blocking",
        parameters=TILE_2D,
        rules=(divides_rule("BM", "TM"), divides_rule("BN", "TN"), shared_out_threads_rule(("BN", "TN"), ("BM", "TM")),
               sums_rule(("TM", "TN"), MAX_SUMS_OF_THREAD, "a thread"), sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"),
               tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK", "TM", "TN"),
        block_of=lambda p: (p["BN"] // p["TN"], p["BM"] // p["TM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)
    yield from _wide()


def _square(name, idea, extra=(), rules=(), bytes_of=lambda p: 8 * p["TILE"] ** 2, lesson=""):
    """A kernel with TILE × TILE tiles and threads."""
    parameters = (TILE, *extra)
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson=lesson, parameters=parameters,
        rules=(threads_rule("TILE", "TILE"), *rules), passes=tuple(p.name for p in parameters),
        block_of=lambda p: (p["TILE"], p["TILE"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["TILE"]), ceil_div(M, p["TILE"]), 1), shared_of=bytes_of)


def _pairs():
    """Lee's pairs: coalescing, bank conflicts, unrolling."""
    yield _square("sgemm_uncoalesced", "a tile of B read down its columns: neighbouring lanes are a row apart",
                  bytes_of=lambda p: 4 * p["TILE"] * (2 * p["TILE"] + 1), lesson="05_coalescing")
    yield _square("sgemm_coalesced", "a tile of B read along its rows and stored transposed: shared memory is read a row apart",
                  lesson="05_coalescing")
    yield _square("sgemm_padded", "rows of the transposed tile PAD words longer, so that a column crosses all banks", (PAD,),
                  (square_rule("TILE", "PAD"),), lambda p: 4 * p["TILE"] * (2 * p["TILE"] + p["PAD"]), lesson="06_bank_conflicts")
    yield _square("sgemm_unrolled", "the loop over the tile written out UNROLL steps at a time", (UNROLL,),
                  (at_most_rule("UNROLL", "TILE"),), lesson="07_unrolling")


def _warp_kernel(name, idea, parameters, buffers):
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="15_closing_in", parameters=parameters,
        rules=(divides_rule("BM", "WM"), divides_rule("BN", "WN"), warp_rule(), vectors_rule("TM", "TN", "BK"), warps_rule(),
               even_loads_rule(), sums_rule(("TM", "TN"), MAX_SUMS_OF_THREAD, "a thread"),
               sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"), padded_tiles_rule(buffers)),
        passes=tuple(p.name for p in parameters),
        block_of=lambda p: (32 * (p["BM"] // p["WM"]) * (p["BN"] // p["WN"]), 1, 1),
        grid_of=_tile_grid, shared_of=lambda p: 4 * buffers * p["BK"] * (p["BM"] + 4 + p["BN"]))


def _shares(p):
    """Threads of a block each of which computes TM × TN elements."""
    return p["BN"] // p["TN"] * (p["BM"] // p["TM"])


def _vectors(name, idea, lesson, rules=()):
    """A kernel whose threads load four floats at a time."""
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson=lesson,
        parameters=tuple(replace(p, choices=tuple(c for c in p.choices if c % 4 == 0)) for p in TILE_2D),
        rules=(divides_rule("BM", "TM"), divides_rule("BN", "TN"), vectors_rule("TM", "TN", "BK"),
               shared_out_threads_rule(("BN", "TN"), ("BM", "TM")), *rules, sums_rule(("TM", "TN"), MAX_SUMS_OF_THREAD, "a thread"),
               sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"), padded_tiles_rule(1)),
        passes=("BM", "BN", "BK", "TM", "TN"), block_of=lambda p: (_shares(p), 1, 1), grid_of=_tile_grid,
        shared_of=lambda p: 4 * p["BK"] * (p["BM"] + 4 + p["BN"]))


def _wide():
    """128-bit loads, loads ahead of use, warp tiles, double buffering."""
    yield _vectors("sgemm_vectorized", "four floats with every load, from global memory and from shared", "15_closing_in")
    yield _vectors("sgemm_prefetched", "the next tiles wait in registers while these are multiplied", "15_closing_in",
                   (even_loads_rule(_shares),))
    yield _warp_kernel("sgemm_warp_tile", "a tile for every warp: its lanes share what they read from shared memory", TILE_WARP, 1)
    yield _warp_kernel("sgemm_double_buffered", "the next tiles are on their way while these are multiplied",
                       tuple(replace(p, default={"BK": 16, "WM": 32, "WN": 64}.get(p.name, p.default)) for p in TILE_WARP), 2)
