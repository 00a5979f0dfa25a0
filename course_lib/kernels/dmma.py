"""Float64 on tensor cores: a tile at a time, and then with several tiles on their way by asynchronous copies."""

from collections.abc import Iterator

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_STATIC_SHARED, MAX_SUMS_OF_THREAD, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED, WHY_WHOLE, divides_rule, sums_rule, warps_rule
from course_lib.kernels.stages import HOPPER, shared_rule
from course_lib.kernels.tensor import multiples_rule

TILES = (
    Parameter("BM", "rows of C a block computes", 128, choices=(64, 128)),
    Parameter("BN", "columns of C a block computes", 128, choices=(64, 128)),
    Parameter("BK", "columns of A a block loads at a time", 16, low=16, choices=(16,)),
    Parameter("WM", "rows of C a warp computes", 64, choices=(32, 64)),
    Parameter("WN", "columns of C a warp computes", 32, choices=(32,)),
)
STAGES = Parameter("STAGES", "tiles of A and of B that have room in shared memory at a time", 3, low=1, high=8, choices=(1, 2, 3, 4))


def _threads(p):
    return 32 * max(p["BM"] // p["WM"], 1) * max(p["BN"] // p["WN"], 1)


def _stage(p):
    return 8 * (p["BM"] * (p["BK"] + 4) + p["BK"] * (p["BN"] + 4))


def _all_stages(p):
    return p["STAGES"] * _stage(p)


def pairs_rule() -> Rule:
    """Return the rule that all threads of a block of warp tiles copy as many pairs of doubles of both tiles.

    >>> pairs_rule().problem({"BM": 16, "BN": 48, "BK": 16, "WM": 16, "WN": 8})
    'tiles of 16 × 16 and 16 × 48 doubles cannot be shared out among 192 threads in pairs: take a larger BK'
    """
    def holds(p):
        return all(p[side] * p["BK"] % (2 * _threads(p)) == 0 for side in ("BM", "BN"))

    def says(p):
        return (f"tiles of {p['BM']} × {p['BK']} and {p['BK']} × {p['BN']} doubles cannot be shared out among {_threads(p)} threads in "
                "pairs: take a larger BK")
    return Rule("BM * BK and BK * BN % (2 * threads) == 0", WHY_WHOLE, holds, says)


def _static_rule():
    return Rule(f"8 * (BM*(BK+4) + BK*(BN+4)) <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: _stage(p) <= MAX_STATIC_SHARED,
                lambda p: f"8 * (BM*(BK+4) + BK*(BN+4)) = {_stage(p)} bytes, but at most {MAX_STATIC_SHARED} (48 KiB) of shared memory are "
                          "allowed: take a smaller BK, BM or BN")


def _kernel(name, idea, parameters, rule, **shared):
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="17_stages", parameters=parameters,
        rules=(divides_rule("BM", "WM"), divides_rule("BN", "WN"), multiples_rule(WM=16, WN=8, BK=16, BN=16), pairs_rule(), warps_rule(),
               sums_rule(("WM", "WN"), 32 * MAX_SUMS_OF_THREAD // 2, "a warp"), rule),
        passes=tuple(p.name for p in parameters), block_of=lambda p: (_threads(p), 1, 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1), dtype="float64", needs=HOPPER,
        outputs_of=lambda p: p["WM"] * p["WN"] // 32, **shared)


def kernels() -> Iterator[Kernel]:
    """Yield the two kernels, the one that waits for every tile first."""
    yield _kernel("dgemm_mma", "float64 on tensor cores, a tile at a time: load, wait, multiply", TILES, _static_rule(), shared_of=_stage)
    yield _kernel("dgemm_stages", "float64 on tensor cores, with the next tiles on their way while one is multiplied", (*TILES, STAGES),
                  shared_rule(_all_stages), dynamic_of=_all_stages)
