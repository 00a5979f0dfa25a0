"""Products of matrices stored as bfloat16, summed in float32: a tile at a time, several tiles on their way, and by warpgroups.

And the split of float32 into three bfloat16, with which they multiply float32; and products of FP8.
"""

from collections.abc import Iterator
from dataclasses import replace

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_SUMS_OF_BLOCK, MAX_SUMS_OF_THREAD, Parameter, Rule
from course_lib.kernels.rules import divides_rule, even_loads_rule, sums_rule, warps_rule
from course_lib.kernels.stages import HOPPER, copies_rule, one_of_rule, shared_rule
from course_lib.kernels.tensor import AMPERE, multiples_rule
from course_lib.kernels.tensor import shared_rule as static_rule


def _tiles(BM, BN, WM, WN):
    return (
        Parameter("BM", "rows of C a block computes", BM, choices=tuple(sorted({64, BM}))),
        Parameter("BN", "columns of C a block computes", BN, choices=tuple(sorted({64, BN}))),
        Parameter("BK", "columns of A a block loads at a time", 64, choices=(64,)),
        Parameter("WM", "rows of C a warp computes", WM, choices=(32, 64)),
        Parameter("WN", "columns of C a warp computes", WN, choices=(32, 64)))


def stages_of(default: int) -> Parameter:
    """Return the parameter that says how many stages there are.

    >>> stages_of(3).default
    3
    """
    return Parameter("STAGES", "tiles of A and of B that have room in shared memory at a time", default, low=2, high=8,
                     choices=tuple(sorted({2, default})))


def _threads(p):
    return 32 * max(p["BM"] // p["WM"], 1) * max(p["BN"] // p["WN"], 1)


def _stage(p):
    return 2 * (p["BM"] * (p["BK"] + 8) + p["BK"] * (p["BN"] + 8))


def _all_stages(p):
    return p["STAGES"] * _stage(p)


def _copied(p):
    """Return what `copies_rule` asks: the lines of each tile, and what the lanes that copy neighbours bring of one."""
    return [(p[lines], 32 if p[length] % 64 else 64, 8) for lines, length in (("BM", "BK"), ("BK", "BN"))]


def _kernel(name, idea, parameters, rules, **shared):
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="16_tensor_cores", parameters=parameters,
        rules=(divides_rule("BM", "WM"), divides_rule("BN", "WN"), *rules, warps_rule()), passes=tuple(p.name for p in parameters),
        block_of=lambda p: (_threads(p), 1, 1), grid_of=lambda M, N, p: (ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1),
        inputs="bf16", stored="bf16", needs=AMPERE, **shared)


WHY_PAIRS = "the two blocks of a cluster begin together and share their work, so there is no odd one"
PAIRS_OF_BLOCKS = Rule("blocks % 2 == 0", WHY_PAIRS, lambda p: p["blocks"] % 2 == 0,
                       lambda p: f"blocks = {p['blocks']}: take an even number, as two blocks are a cluster")


def _warpgroups(name, idea, BN, stage, parameters, group=4, cluster=1, lesson="", threads=384, boxes=((128, 64), (64, 64)), **formats):
    """Return a kernel of a producer and two consumers (without: 256 threads), whose blocks take turns with the tiles of C.

    Some have room for such a tile.
    """
    def tile(p):
        return p["BN"] if BN is None else BN

    def shared(p):
        return p["STAGES"] * stage(tile(p)) + (2 * 128 * tile(p) if "result" in formats else 0)

    blocks = Parameter("blocks", "blocks of the grid; each takes every so manyth tile of C", 132, low=2, high=2**20, choices=(132,))
    bands = Parameter("GROUP", "rows of tiles that are computed together, column by column", group, high=64,
                      choices=tuple(sorted({4, 8, group})))
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson=lesson, parameters=(*parameters, bands, blocks),
        rules=(*([one_of_rule("BN", 128, 256)] if BN is None else []), *([PAIRS_OF_BLOCKS] if cluster > 1 else []),
               shared_rule(lambda p: shared(p) + 1024)),
        passes=tuple(p.name for p in (*parameters, bands)), block_of=lambda p: (threads, 1, 1), grid_of=lambda M, N, p: (p["blocks"], 1, 1),
        dynamic_of=shared, boxes=boxes, needs=HOPPER,
        outputs_of=lambda p: tile(p) // 2, **formats)


def kernels() -> Iterator[Kernel]:
    """Yield the kernels, from the one that waits for every tile on."""
    depth = multiples_rule(WM=16, WN=16, BK=16)
    yield _kernel(
        "sbgemm_mma", "A and B stored as bfloat16: half the bytes from memory too, and nothing to round", _tiles(128, 128, 64, 32),
        (depth, even_loads_rule(vector=8), sums_rule(("WM", "WN"), 32 * MAX_SUMS_OF_THREAD, "a warp"),
         sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"), static_rule("2 * (BM*(BK+8) + BK*(BN+8))", _stage, depth)),
        shared_of=_stage)
    yield _kernel(
        "sbgemm_stages", "stored bfloat16, with the next tiles on their way while one is multiplied",
        (*_tiles(128, 256, 64, 64), stages_of(3)),
        (multiples_rule(WM=16, WN=16, BK=32, BN=32), copies_rule(_threads, _copied), sums_rule(("WM", "WN"), 32 * 192, "a warp"),
         sums_rule(("BM", "BN"), 48 * 1024, "a block"), shared_rule(_all_stages)),
        dynamic_of=_all_stages)
    wide = Parameter("BN", "columns of C a block computes", 256, choices=(128, 256))
    stages = replace(stages_of(4), choices=(2, 3, 4))
    yield _warpgroups("sbgemm_tma", "a warp fetches boxes of the matrices, two warpgroups multiply what has come", None,
                      lambda BN: 2 * 64 * (128 + BN), (wide, stages), lesson="18_roles", inputs="bf16", stored="bf16")
    yield _warpgroups("sbgemm_clusters", "two blocks fetch half of B's tile each, for both", None,
                      lambda BN: 2 * 64 * (128 + BN), (wide, stages_of(4)), cluster=2, inputs="bf16", stored="bf16")
    yield _warpgroups("sbgemm_wide_stores", "a thread that multiplies orders the copies, and C leaves 16 bytes at a time", None,
                      lambda BN: 2 * 64 * (128 + BN), (wide, stages), 16, lesson="18_roles", threads=256, inputs="bf16", stored="bf16")
    yield _warpgroups("bgemm_clusters", "C rounded to bfloat16 too: a tile leaves by tensor map while the next is computed", None,
                      lambda BN: 2 * 64 * (128 + BN), (wide, stages_of(3)), cluster=2, inputs="bf16", stored="bf16", result="bf16",
                      boxes=((128, 64), (64, 64), (64, 64)))
    yield _warpgroups("b8gemm_clusters", "FP8: a byte for each number of A and B, and twice as many products at a time", None,
                      lambda BN: 128 * (128 + BN), (wide, stages_of(3)), cluster=2, inputs="e4m3", stored="e4m3", result="bf16",
                      boxes=((128, 128), (64, 128), (64, 64)))
    yield _warpgroups("sgemm_parts", "float32's accuracy: six products of three bfloat16 each, by warpgroups", 128,
                      lambda BN: 6 * 64 * (128 + BN), (stages_of(2),), 8, lesson="20_few_bits", inputs="bf16x3 by 64", stored="bf16x3")
    yield Kernel(
        "split_parts", FOLDER / "split_parts.cu", "split_parts", lesson="",
        idea="every float as three bfloat16, scaled by row or by column", kind="split", parameters=(), rules=(), passes=(),
        shared_of=lambda p: 256, block_of=lambda p: (1024, 1, 1), grid_of=lambda lines, p: (ceil_div(lines, 32), 1, 1))
