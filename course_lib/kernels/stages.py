"""The kernels that copy ahead: several stages of tiles in shared memory, filled asynchronously, and work shared out among all blocks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_DYNAMIC_SHARED, MAX_SUMS_OF_THREAD, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED, WHY_WHOLE, divides_rule, sums_rule, vectors_rule, warp_rule, warps_rule
from course_lib.kernels.tensor import multiples_rule
from course_lib.kernels.wong import TRANSPOSES

AMPERE, HOPPER = (8, 0), (9, 0)        # asynchronous copies; `mma` with 16 rows of float64: PTX ISA, "cp.async", "mma", target notes
WHY_WIDE = "an asynchronous copy brings one element or 16 bytes, which begin and end at a multiple of 16 bytes"
BLOCKS = Parameter("blocks", "blocks of the grid; the work is shared out among them", 132, high=2**20, choices=(33, 66, 132, 264, 528))
NO_TRANSPOSES = tuple(replace(p, choices=(0,)) for p in TRANSPOSES)        # sliders leave them alone: every position is compiled ahead


RUNGS = {         # from sgemm_double_buffered to sgemm_stream_k, one idea after the other; each block has one tile
    "sgemm_stages": "several steps' tiles on their way past the registers, A's float by float",
    "sgemm_serpentine": "the outer product there and back: neighbouring multiply-adds share an operand",
    "sgemm_wide_stores": "four rows of C asked for together and stored in vectors",
}


def _common(stages, resident, wide, widest):
    return (
        Parameter("STAGES", "steps whose tiles are in shared memory at a time", stages, low=2, high=8, choices=(2, 3, 4)),
        Parameter("RESIDENT", "blocks of a multiprocessor that registers are kept for", resident, high=32, choices=(resident,)),
        Parameter("WIDE", "elements that a copy brings", wide, high=widest, choices=(wide,)))


def shared_rule(size: Callable[[Mapping[str, int]], int]) -> Rule:
    """Return the rule that all stages fit in the shared memory that a block can ask for."""
    def says(p):
        return (f"STAGES = {p['STAGES']} stages of tiles take {size(p)} bytes, but a block can ask for at most {MAX_DYNAMIC_SHARED} "
                "(227 KiB) of shared memory: take fewer stages or smaller tiles")
    return Rule(f"STAGES * (bytes of a stage) <= {MAX_DYNAMIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_DYNAMIC_SHARED, says)


def one_of_rule(name: str, *values: int) -> Rule:
    """Return the rule that a parameter has one of these values.

    >>> one_of_rule("WIDE", 1, 4).problem({"WIDE": 2})
    'WIDE = 2: WIDE can be 1 or 4'
    """
    words = " or ".join(map(str, values))
    return Rule(" or ".join(f"{name} == {value}" for value in values), WHY_WIDE, lambda p: p[name] in values,
                lambda p: f"{name} = {p[name]}: {name} can be {words}")


def copies_rule(threads: Callable[[Mapping[str, int]], int], tiles: Callable[[Mapping[str, int]], list[tuple[int, int, int]]]) -> Rule:
    """Return the rule that the threads of a block copy whole lines of both tiles.

    `tiles`: parameters -> (lines, elements of a line, elements of a copy) of each tile.
    """
    def holds(p):
        return all(_even(lines, length // count, threads(p)) for lines, length, count in tiles(p))

    def says(p):
        return (f"the {threads(p)} threads of a block cannot share out the copies of a step evenly: take a larger BK, or tiles whose sides "
                "are powers of two")
    return Rule("copies of a step % threads == 0", WHY_WHOLE, holds, says)


def _even(lines, copies, threads):
    along = min(threads, copies)
    return copies > 0 and copies % along == 0 and threads % along == 0 and lines % (threads // along) == 0


def _wide_sizes(M, N, K, p):
    """Return why copies of WIDE elements do not fit matrices of these sizes, or None."""
    rows = {"K" if not p["TRANSA"] else "M": M if p["TRANSA"] else K, "N" if not p["TRANSB"] else "K": K if p["TRANSB"] else N, "N": N}
    return next((f"with WIDE = {p['WIDE']} rows are multiples of {p['WIDE']} elements long, but {name} = {length}: take WIDE = 1"
                 for name, length in rows.items() if length % p["WIDE"]), None)


def widest(kernel: Kernel, sizes: tuple[int, int, int], transposed: tuple[bool, bool] = (False, False), aligned: bool = True) -> int:
    """Return the elements of the widest copy that a product allows: as many as 16 bytes hold, or one.

    Parameters
    ----------
    kernel
        One of those here.
    sizes, transposed
        M, N and K; whether A and B are stored transposed.
    aligned
        Whether all matrices and their rows begin at multiples of 16 bytes. Without padding the lengths of the rows tell.

    >>> *_, sgemm, dgemm = kernels()
    >>> widest(sgemm, (5, 8, 12)), widest(sgemm, (5, 8, 12), (True, False)), widest(dgemm, (5, 8, 12))
    (4, 1, 2)
    """
    most = next(p.high for p in kernel.parameters if p.name == "WIDE")
    operands = dict(zip(("TRANSA", "TRANSB"), map(int, transposed), strict=True))
    return most if aligned and _wide_sizes(*sizes, {"WIDE": most, **operands}) is None else 1


def _wide_strides(lda, ldb, ldc, p):
    return next((f"with WIDE = {p['WIDE']} rows begin at multiples of 16 bytes, but {name} = {value}: take WIDE = 1"
                 for name, value in {"lda": lda, "ldb": ldb, "ldc": ldc}.items() if value % p["WIDE"]), None)


def kernels() -> Iterator[Kernel]:
    """Yield the rungs to stream-K, then the two kernels that share out their work in steps: float32, and float64 on tensor cores."""
    yield from _sgemm()
    yield _dgemm()


def _sgemm():
    parameters = (
        Parameter("BM", "rows of C a block computes", 256, choices=(128, 256)),
        Parameter("BN", "columns of C a block computes", 128, choices=(64, 128)),
        Parameter("BK", "columns of A a block loads at a time", 16, low=8, choices=(8, 16)),
        Parameter("WM", "rows of C a warp computes", 64, choices=(64,)),
        Parameter("WN", "columns of C a warp computes", 64, choices=(64,)),
        Parameter("TM", "rows of C a thread computes", 16, high=128, choices=(16,)),
        Parameter("TN", "columns of C a thread computes", 8, high=128, choices=(8,)), *_common(3, 1, 1, 4), *NO_TRANSPOSES)

    def threads(p):
        return 32 * max(p["BM"] // p["WM"], 1) * max(p["BN"] // p["WN"], 1)

    def shared(p):
        return 4 * p["STAGES"] * p["BK"] * (p["BM"] + 4 + p["BN"] + 4)

    def tiles(p):
        sides = (("BM", not p["TRANSA"]), ("BN", bool(p["TRANSB"])))
        return [(p[side], 8, 1) if k_next else (p["BK"], p[side], p["WIDE"]) for side, k_next in sides]
    rules = (divides_rule("BM", "WM"), divides_rule("BN", "WN"), divides_rule("WM", "TM"), divides_rule("WN", "TN"),
             vectors_rule("TM", "TN"), multiples_rule(BK=8), warp_rule(), one_of_rule("WIDE", 1, 4),
             sums_rule(("TM", "TN"), MAX_SUMS_OF_THREAD, "a thread"))
    common = (rules, threads, shared, tiles, "float32", AMPERE, lambda p: p["TM"] * p["TN"])
    few = tuple(replace(p, choices=(p.default,)) if p.name in ("BN", "BK") else p for p in parameters)
    for name, idea in RUNGS.items():
        yield _kernel(name, idea, few, *common)
    yield _sharing_out(_kernel(
        "sgemm_stream_k", "tiles as long as there is one for every block, then steps of tiles; copies that run ahead", parameters, *common))


def _dgemm():
    parameters = (
        Parameter("BM", "rows of C a block computes", 128, choices=(64, 128)),
        Parameter("BN", "columns of C a block computes", 128, choices=(64, 128)),
        Parameter("BK", "columns of A a block loads at a time", 16, low=16, choices=(16, 32)),
        Parameter("WM", "rows of C a warp computes", 64, choices=(32, 64)),
        Parameter("WN", "columns of C a warp computes", 32, choices=(32,)),
        Parameter("SLICES", "groups of warps that share out the k of a step", 1, high=4, choices=(1,)),
        *_common(4, 1, 1, 2), *NO_TRANSPOSES)

    def threads(p):
        return 32 * max(p["BM"] // p["WM"], 1) * max(p["BN"] // p["WN"], 1) * p["SLICES"]

    def shared(p):
        a = p["BK"] * (p["BM"] + 4) if p["TRANSA"] else p["BM"] * (p["BK"] + 8)
        b = p["BN"] * (p["BK"] + 4) if p["TRANSB"] else p["BK"] * (p["BN"] + 2)
        return 8 * p["STAGES"] * (a + b)

    def tiles(p):
        a, b = (p["BM"], p["BK"]), (p["BK"], p["BN"])
        return [(*(a[::-1] if p["TRANSA"] else a), p["WIDE"]), (*(b[::-1] if p["TRANSB"] else b), p["WIDE"])]

    def fits(p):
        return p["SLICES"] == 1 or 8 * p["BM"] * p["BN"] <= shared(p)
    slices = Rule("BK % (16 * SLICES) == 0", "a slice has an even number of groups of 8 k, as it has two sets of registers for B",
                  lambda p: p["BK"] % (16 * p["SLICES"]) == 0,
                  lambda p: f"BK = {p['BK']} with SLICES = {p['SLICES']}: BK can be {16 * p['SLICES']} or a multiple of it")
    room = Rule("8 * BM * BN <= bytes of all stages, or SLICES == 1", "the sums of a slice are handed over where the tiles were", fits,
                lambda p: f"SLICES = {p['SLICES']}: the sums take {8 * p['BM'] * p['BN']} bytes, but all stages have {shared(p)}: take "
                "more stages")
    return _sharing_out(_kernel(
        "dgemm_stream_k", "float64 on tensor cores, with tiles and then steps of tiles for every block", parameters,
        (divides_rule("BM", "WM"), divides_rule("BN", "WN"), multiples_rule(WM=8, WN=16), slices, room, one_of_rule("WIDE", 1, 2),
         sums_rule(("WM", "WN"), 32 * MAX_SUMS_OF_THREAD // 2, "a warp")),
        threads, shared, tiles, "float64", HOPPER, lambda p: p["WM"] * p["WN"] // 32))


def _kernel(name, idea, parameters, rules, threads, shared, tiles, dtype, needs, outputs):
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="", parameters=parameters,
        rules=(*rules, warps_rule(), copies_rule(threads, tiles), shared_rule(shared)), passes=tuple(p.name for p in parameters),
        block_of=lambda p: (threads(p), 1, 1), grid_of=lambda M, N, p: (ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1), dtype=dtype,
        sizes_of=_wide_sizes, strides_of=_wide_strides, needs=needs, dynamic_of=shared, outputs_of=outputs)


def _sharing_out(kernel):
    """Return the kernel with as many blocks as the caller likes, each of which can leave sums of a tile to another."""
    return replace(
        kernel, lesson="19_busy", parameters=(*kernel.parameters, BLOCKS), grid_of=lambda M, N, p: (p["blocks"], 1, 1),
        workspace_of=lambda p: ((kernel.dtype, p["blocks"] * p["BM"] * p["BN"]), ("int32", p["blocks"])))
