"""The kernels of Wang and Jin's report, from a thread per element to many outputs a thread, and what it would try next."""

from collections.abc import Iterator
from dataclasses import replace

from course_lib.kernels.kernel import FOLDER, REALS, Kernel, ceil_div
from course_lib.kernels.ladder import BLOCK_XY
from course_lib.kernels.parameters import MAX_STATIC_SHARED, MAX_SUMS_OF_BLOCK, MAX_SUMS_OF_THREAD, Parameter
from course_lib.kernels.rules import divides_rule, outputs_per_thread_rule, outputs_tiles_rule, sums_rule, threads_rule

BYTES = {"float32": 4, "float64": 8}
TILE = Parameter("TILE", "rows and columns of a tile", 32, high=32, choices=(4, 8, 16, 32))
OUT = Parameter("OUT", "elements of C a thread computes", 4, high=32, choices=(1, 2, 4, 8, 16))
OUTPUTS = (
    Parameter("TA", "rows of C a block computes", 64, choices=(32, 64, 128)),
    Parameter("TB", "columns of C a block computes", 64, choices=(32, 64, 128)),
    Parameter("TW", "columns of A a block loads at a time", 16, high=MAX_STATIC_SHARED // (2 * BYTES["float64"]), choices=(8, 16)),
    Parameter("bx", "threads of a block along x", 16, choices=(8, 16, 32)),
    Parameter("by", "threads of a block along y", 16, choices=(8, 16, 32)),
)
# What the report would have tried next has fewer positions.
FEWER = tuple(replace(p, choices=tuple(c for c in p.choices if c <= (64 if p.name in ("TA", "TB") else 16))) for p in OUTPUTS)
LETTERS = {"float32": "s", "float64": "d"}
LATER = "15_closing_in"        # teaches what the report would have tried next


def kernels() -> Iterator[Kernel]:
    """Yield the report's four kernels and three it proposes, in double precision as there and in single precision."""
    for dtype in ("float64", "float32"):
        yield from _family(dtype, LETTERS[dtype])


def _family(dtype, letter):
    shared = {"lesson": "08_register_blocking", "dtype": dtype, "takes_real": True}
    size = BYTES[dtype]
    yield Kernel(
        f"{letter}gemm_thread", FOLDER / "gemm_thread.cu", "gemm_thread",
        idea=f"a thread per element, in {REALS[dtype]}",
        parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["bx"]), ceil_div(M, p["by"]), 1), **shared | {"lesson": ""})
    yield Kernel(
        f"{letter}gemm_block", FOLDER / "gemm_block.cu", "gemm_block",
        idea=f"square tiles in shared memory, in {REALS[dtype]}",
        parameters=(TILE,), rules=(threads_rule("TILE", "TILE"),), passes=("TILE",),
        block_of=lambda p: (p["TILE"], p["TILE"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["TILE"]), ceil_div(M, p["TILE"]), 1),
        shared_of=lambda p: 2 * size * p["TILE"] ** 2, **shared)
    yield Kernel(
        f"{letter}gemm_ilp", FOLDER / "gemm_ilp.cu", "gemm_ilp",
        idea=f"OUT elements of a column for each thread, in {REALS[dtype]}: sums that do not wait for one another",
        parameters=(TILE, OUT), rules=(divides_rule("TILE", "OUT"),), passes=("TILE", "OUT"),
        block_of=lambda p: (p["TILE"], p["TILE"] // p["OUT"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["TILE"]), ceil_div(M, p["TILE"]), 1),
        shared_of=lambda p: 2 * size * p["TILE"] ** 2, **shared)
    yield _outputs("outputs", dtype, "a TA × TB tile of C, TA/by × TB/bx outputs a thread; a fast and a guarded path",
                   lesson=shared["lesson"])
    yield _outputs("readonly", dtype, "A and B by way of the read-only cache", lesson=LATER)
    yield _outputs("rank1", dtype, "a thread's outputs are neighbours, its elements of A and B come in vectors", 16 // size, LATER)
    yield _outputs("dots", dtype, "one output's sum over a tile after another: k innermost", lesson=LATER)


def _outputs(idea, dtype, words, pad=0, lesson=""):
    """The final kernel, or what the report would have tried next; `pad`: elements behind each of the TW rows of a transposed tile of A."""
    size = BYTES[dtype]
    return Kernel(
        f"{LETTERS[dtype]}gemm_{idea}", FOLDER / f"gemm_{idea}.cu", f"gemm_{idea}",
        idea=f"{words}, in {REALS[dtype]}", lesson=lesson, parameters=OUTPUTS if idea == "outputs" else FEWER,
        rules=(divides_rule("TA", "by"), divides_rule("TB", "bx"), threads_rule("bx", "by"),
               sums_rule(("TA", "TB"), MAX_SUMS_OF_BLOCK * 4 // size, "a block"), outputs_per_thread_rule(MAX_SUMS_OF_THREAD * 4 // size),
               outputs_tiles_rule(size, pad)),
        passes=("TA", "TB", "TW", "bx", "by"), passes_as={"bx": "BX", "by": "BY"},
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["TB"]), ceil_div(M, p["TA"]), 1),
        shared_of=lambda p: size * p["TW"] * (p["TA"] + pad + p["TB"]), dtype=dtype, takes_real=True)
