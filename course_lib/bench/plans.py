"""Which measurements to make: sweeps over sizes, tiles, warps and threads, as lists of tasks.

The sizes, blocks and kernels of the documents are the defaults, so that `sizes()` is Wang and Jin's Table 4 and `warps()` the
homework's sweep.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from course_lib.arch import DEFAULT_DEVICE, Device
from course_lib.bench.tasks import COPY, LIBRARY, Identity, Task, task
from course_lib.bench.tuned import TUNED, TUNED_SIZES
from course_lib.errors import CourseError
from course_lib.kernels import ALL, KERNELS, cpu_kernel, get
from course_lib.kernels.stages import RUNGS
from course_lib.run import choose_backend

Names: TypeAlias = Sequence[str]
Numbers: TypeAlias = Sequence[int]
Size: TypeAlias = int | tuple[int, int, int]      # of square matrices, or M, N and K
WANG_SIZES = (256, 257, 329, 511, 512, 513, 631, 768, 843, 960, 1023, 1024, 1025, 1374, 1536, 1720, 1845, 2047, 2048, 2049)
POWERS = (256, 512, 1024, 2048, 4096, 8192)
WANG = tuple(f"{letter}gemm_{idea}" for letter in "ds" for idea in ("thread", "block", "ilp", "outputs"))
NEXT = tuple(f"{letter}gemm_{idea}" for letter in "ds" for idea in ("readonly", "rank1", "dots"))     # what they would try next
WANG_BLOCKS = ({"bx": 16, "by": 16}, {"bx": 16, "by": 8})
LADDER = ("sgemm_swapped", "sgemm_naive", "sgemm_tiled", "sgemm_uncoalesced", "sgemm_coalesced", "sgemm_padded", "sgemm_unrolled",
          "sgemm_1d_tile", "sgemm_2d_tile", "sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered")
AHEAD = ("sgemm_vectorized", "sgemm_prefetched", "sgemm_warp_tile")     # loads ahead of use, then warp tiles: what is each worth?
LEE = ("sgemm_naive", "sgemm_tiled", "sgemm_coalesced", "sgemm_padded", "sgemm_unrolled")     # columns of the slides' GPU table
LEE_CPU = ("gemm_ijk", "gemm_pthreads", "gemm_vectors", "gemm_openmp")
CPU_STEPS = ("gemm_ijk", "gemm_ikj", "gemm_blocked", "gemm_vectors", "gemm_packed", "blas")     # one thread, from slow to fast
CHIEN = tuple(name for name, kernel in KERNELS.items() if kernel.path.stem.startswith("sgemm_outer"))
RACE = ("sgemm_stream_k", "dgemm_stream_k")          # recorded beside cuBLAS by `race`
STAGES = ("dgemm_mma", "dgemm_stages")               # and by `stages`
CLIMB = tuple(RUNGS)                                 # and by `python -m tools record rungs`
TENSOR = tuple(name for name, kernel in KERNELS.items() if kernel.inputs and not kernel.stored)
STORED = tuple(name for name, kernel in KERNELS.items() if kernel.stored)      # bfloat16 in memory
MXV = tuple(name for name, kernel in ALL.items() if kernel.kind == "vectors")
ACTIVE = (1024, 512, 384, 320, 256, 192)      # threads an SM: Chien's, and as many again
WARPS = tuple(range(4, 33, 4))
VECTORS = 2**20
PADS = (0, 1, 2, 4, 8)                        # words added to each row of a tile
BLAS = "blas"       # a program for the CPU: NumPy's product
STRIDES, OFFSETS, VECTORS_OF = (1, 2, 3, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32), (1, 2, 4)     # of the strided copy
GATHERED = (2**20, 2**26)      # floats that it copies: they fit the L2, or are many times as large
COPIED = 16384       # rows and columns of floats of the copy that measures bandwidth: 1 GiB, many times the L2
SHAPES = tuple({"bx": 256 >> i, "by": 1 << i} for i in range(9))      # blocks of 256 threads
MOST = 2000          # tasks of a sweep over tiles


def ladder(sizes: Numbers = POWERS, **how: Any) -> list[Task]:
    """Return every rung at every size, from the first rung up, and the library's product on top on a GPU.

    >>> [t.kernel for t in ladder((64,), backend="sim")][:3]
    ['sgemm_swapped', 'sgemm_naive', 'sgemm_tiled']
    """
    return over_sizes(LADDER + ((LIBRARY,) if _on_gpu(how) else ()), sizes, **how)


def over_sizes(kernels: Names = WANG, sizes: Sequence[Size] = WANG_SIZES,
               parameters: Mapping[str, Iterable[Mapping[str, int]]] | None = None, **how: Any) -> list[Task]:
    """Return a task for each size and kernel; sizes change slowest, so that inputs are made once for each.

    Parameters
    ----------
    parameters
        Several variants of a kernel, by its name; the others run with their defaults.
    **how
        backend, l2, budget_s, dtype as for `task`.
    """
    if not kernels or not sizes:
        raise CourseError(f"there are no {'sizes' if kernels else 'kernels'} to sweep over")
    variants = parameters or {}
    return [task(name, size, chosen, **how) for size in sizes for name in kernels for chosen in variants.get(name, ({},))]


def wang(sizes: Numbers = WANG_SIZES, kernels: Names = WANG, **how: Any) -> list[Task]:
    """Return the kernels of Wang and Jin at their sizes, the last one with both of their blocks, and the library."""
    tasks = over_sizes(kernels, sizes, {name: WANG_BLOCKS for name in kernels if name.endswith("_outputs")}, **how)
    library = [task(LIBRARY, size, dtype=dtype, **how) for size in sizes for dtype in ("float64", "float32")] if _on_gpu(how) else []
    return sorted(tasks + library, key=lambda t: sizes.index(t.N))


def tiles(kernel: str, size: Size = 1024, choices: Mapping[str, Iterable[int]] | None = None, **how: Any) -> list[Task]:
    """Return a task for every combination of a kernel's parameters; those that break a rule stay in it with their sentence.

    Parameters
    ----------
    choices
        Values by the name of a parameter. The other parameters take the values that their sliders offer.

    Raises
    ------
    CourseError
        For more than 2000 combinations.

    >>> found = tiles("sgemm_naive", 64, {"bx": (8, 64)}, backend="sim")
    >>> len(found), sum(bool(t.problem) for t in found)
    (18, 5)
    """
    described, choices = get(kernel), dict(choices or {})
    known = {p.name: p.choices for p in described.parameters}
    for name in choices:
        if name not in known:
            raise CourseError(f"{name} is no parameter of {kernel}: it has {', '.join(known)}", kernel=kernel)
    values = {name: tuple(choices.get(name, usual)) for name, usual in known.items()}
    combinations = list(itertools.product(*values.values()))
    if len(combinations) > MOST:
        raise CourseError(f"{kernel} has {len(combinations)} combinations of {', '.join(values)}: hold some of them, such as "
                          f"choices={{'{next(iter(values))}': ({next(iter(values.values()))[0]},)}}, to have at most {MOST}")
    return [task(kernel, size, dict(zip(values, combination, strict=True)), **how) for combination in combinations]


def warps(kernels: Names = MXV, size: int = VECTORS, counts: Numbers = WARPS, parameters: Mapping[str, int] | None = None,
          **how: Any) -> list[Task]:
    """Return the homework's sweep: each kernel of many vectors with 4 to 32 warps a block.

    >>> [t.parameters["threads"] for t in warps(["mxv_sh"], 64, (4, 8), backend="sim")]
    [128, 256]
    """
    return [task(name, size, {**(parameters or {}), "threads": 32 * count}, **how) for name in kernels for count in counts]


def active(kernels: Names = ("sgemm_volkov", "sgemm_method1"), sizes: Numbers = POWERS[:-1], counts: Numbers = ACTIVE,
           on: Device | None = None, **how: Any) -> list[Task]:
    """Return Chien's sweep: so many threads at a time on each SM, because every block is given more shared memory than it needs.

    Parameters
    ----------
    kernels, sizes, **how
        As for `over_sizes`, on a GPU.
    counts
        Active threads an SM; of those that are no whole blocks as many as there are whole blocks.
    on
        Whose shared memory is shared out; default the H200.

    >>> [t.dynamic_shared for t in active(["sgemm_volkov"], (256,), (512, 256), backend="gpu")]
    [27072, 56256]
    """
    limits = (on or DEFAULT_DEVICE).limits
    tasks: dict[Identity, Task] = {}
    for size in sizes:
        for name in kernels:
            per_block, own = math.prod(get(name).block()), get(name).shared_bytes()
            for count in counts:
                share = limits.shared // max(1, count // per_block) // limits.shared_unit * limits.shared_unit - limits.shared_reserved
                share = min(share, limits.shared_per_block)
                one = task(name, size, {}, dynamic_shared=max(0, share - own), **{"backend": "gpu"} | how)
                tasks[one.identity] = one
    return list(tasks.values())


def padding(sizes: Numbers = (1024, 4096), tiles: Numbers = (16, 32), **how: Any) -> list[Task]:
    """Return transposes and products whose shared tile has rows of several lengths, and what does without padding.

    >>> [t.parameters["PAD"] for t in padding((64,), (32,), backend="sim") if t.kernel == "sgemm_padded"]
    [0, 1, 2, 4, 8]
    """
    tasks = []
    for size in sizes:
        for side in tiles:
            moved = {"TILE": side, "ROWS": 8}
            tasks += [task("transpose", size, {**moved, "PAD": pad}, **how) for pad in (*PADS, 16)]
            tasks += [task(name, size, moved, **how) for name in ("transpose_swizzled", "transpose_plain")]
            tasks += [task("sgemm_padded", size, {"TILE": side, "PAD": pad}, **how) for pad in PADS]
            tasks.append(task("sgemm_tiled", size, {"BM": side, "BN": side, "BK": side}, **how))
    return tasks


def unrolling(sizes: Numbers = (1024, 4096), tiles: Numbers = (16, 32), steps: Numbers = (1, 2, 4, 8, 16, 32), **how: Any) -> list[Task]:
    """Return products whose inner loop is written out by so many steps, and the tiled one where the compiler decides.

    >>> [t.parameters["UNROLL"] for t in unrolling((64,), (16,), backend="sim") if t.kernel == "sgemm_unrolled"]
    [1, 2, 4, 8, 16]
    """
    tasks = []
    for size in sizes:
        for side in tiles:
            tasks += [task("sgemm_unrolled", size, {"TILE": side, "UNROLL": count}, **how) for count in steps if count <= side]
            tasks.append(task("sgemm_tiled", size, {"BM": side, "BN": side, "BK": side}, **how))
    return tasks


def shapes(sizes: Numbers = (2047, 2048, 4096), kernels: Names = ("sgemm_naive", "sgemm_swapped"), **how: Any) -> list[Task]:
    """Return the two first kernels with blocks of 256 threads in every shape, at sizes with and without a row of whole lines of the L1.

    It decides what their time follows: sectors, lines of 128 bytes, or wavefronts of the L1. At N = 2048 a warp of 32 × 1 and one of 8 × 4
    elements ask for equally many sectors, in 2 and in 5 lines. At N = 2047 the swapped kernel asks for 17 lines, but for 2 wavefronts.

    >>> [t.parameters for t in shapes((64,), ("sgemm_naive",), backend="sim")][3:5]
    [{'bx': 32, 'by': 8}, {'bx': 16, 'by': 16}]
    """
    return over_sizes(kernels, sizes, dict.fromkeys(kernels, SHAPES), **how)


def wide_grids(sizes: Numbers = (*WANG_SIZES, 4096, 8192), kernel: str = "dgemm_outputs", **how: Any) -> list[Task]:
    """Return Wang and Jin's final kernel twice at each size: with the blocks its tiles need, and with a block for each bx × by elements.

    The second grid is what their program set before they changed setGrid. The blocks that have no tile of C return at once.

    >>> [t.grid for t in wide_grids((1024,), backend="gpu")]
    [(), (64, 64, 1)]
    """
    p = get(kernel).check()
    return [task(kernel, size, grid=grid, **how) for size in sizes
            for grid in ((), (-(-size // p["bx"]), -(-size // p["by"]), 1))]


def strides(sizes: Numbers = GATHERED, **how: Any) -> list[Task]:
    """Return strided copies: every stride with every width of a load, and every offset of single floats.

    >>> [(t.parameters["stride"], t.parameters["offset"], t.parameters["VEC"]) for t in strides((64,), backend="sim")][-4:]
    [(1, 4, 1), (1, 8, 1), (1, 16, 1), (1, 32, 1)]
    """
    chosen = [{"stride": stride, "VEC": width} for width in VECTORS_OF for stride in STRIDES] + [{"offset": far} for far in OFFSETS]
    return over_sizes(("copy_strided",), sizes, {"copy_strided": chosen}, **how)


def threads(kernels: Names | None = None, sizes: Numbers = (512,), counts: Numbers | None = None, **how: Any) -> list[Task]:
    """Return programs for the CPU with 1, 2, 4, … threads, up to the cores of this machine unless `counts` are given."""
    from course_lib.simt.host.workers import available_cores

    kernels = kernels or ("gemm_pthreads", "gemm_openmp", "gemm_packed", "blas")
    cores = available_cores()
    counts = counts or sorted({cores, *(2**i for i in range(cores.bit_length()) if 2**i <= cores)})
    return [task(name, size, {"threads": count} if cpu_kernel(name).threaded else {}, **how)
            for size in sizes for name in kernels for count in (counts if cpu_kernel(name).threaded else (1,))]


def everything(budget_s: float = 0.15) -> dict[str, list[Task]]:
    """Return what is recorded on a GPU, most wanted first: name of the file in course_lib/data to its tasks."""
    how: dict[str, Any] = {"backend": "gpu", "budget_s": budget_s}
    up_to_4096 = POWERS[:-1]
    elsewhere = (*LADDER, *AHEAD, *WANG, *NEXT, *CHIEN, *TENSOR, *STORED, *RACE, *STAGES, *CLIMB)
    others = tuple(name for name in KERNELS if name not in elsewhere)
    return {
        "ladder": ladder(**how),
        "wang": wang(**how) + wang((4096, 8192), **how),
        "chien": [task(name, whole_tiles(name, size), **how) for size in POWERS for name in (*CHIEN, LIBRARY)],
        "mxv": warps(**how),
        "lee": over_sizes(LEE, up_to_4096, {name: _sixteen(name) for name in LEE}, **how),
        "tensor": over_sizes(TENSOR, POWERS, **how),
        "wong": over_sizes((*others, "sgemm_multiply", "matrix_sum", "transpose", "transpose_plain"), POWERS, **how),
        "padding": padding(**how),
        "strides": strides(**how),
        "unrolling": unrolling(**how),
        "copy": [task(COPY, COPIED, **how), *over_sizes((COPY,), (1024, 2048, 4096, 8192), **how)],
        "ahead": over_sizes((*AHEAD, LIBRARY), POWERS, **how),
        "cold": over_sizes((*LADDER, LIBRARY), (512, 1024), l2="cold", **how),
        "blocks": [t for size in (256, 512, 1024, 2048) for t in tiles("dgemm_outputs", size, {
            "TA": (32, 64), "TB": (32, 64), "TW": (8, 16), "bx": (8, 16, 32), "by": (8, 16)}, **how)],
        "active": active(**how),
        "orders": over_sizes(NEXT, (*WANG_SIZES, 4096, 8192), **how),
        "tuned": over_sizes(tuple(TUNED), TUNED_SIZES, TUNED, **how),
        "grids": wide_grids(**how),
        "shapes": shapes(**how),
        "threads": threads(sizes=(1024,), counts=(1, 2, 4, 8, 16), budget_s=budget_s),
        "cpu_steps": threads(CPU_STEPS, (1024,), (1,), budget_s=budget_s),
        "lee_cpu": [t for size in up_to_4096 for name in LEE_CPU if size <= 2048 or name != "gemm_ijk"
                    for t in threads((name,), (size,), counts=(16,), budget_s=budget_s)],
        "wang_cpu": [task(BLAS, size, {"threads": count}, dtype=dtype, budget_s=budget_s) for size in WANG_SIZES
                     for dtype, count in (("float64", 1), ("float64", 8), ("float32", 8))],
    }


def whole_tiles(name: str, size: int) -> Size:
    """Return the sizes for a kernel that tests no index: up to a tenth larger where that makes whole tiles.

    >>> whole_tiles("sgemm_method2", 1024), whole_tiles("sgemm_method1", 1024), whole_tiles("sgemm_method4", 1024)
    ((1024, 1032, 1024), 1024, 1024)
    """
    p = {p.name: p.default for p in get(name).parameters} if name in KERNELS else {}
    if p.get("GUARD") != 0:
        return size
    units = p["THREADS"] * p["VECTORS"] * p["GAP"], p["COLS"], p["BK"]
    M, N, K = (-(-size // unit) * unit for unit in units)
    return size if {M, N, K} == {size} or max(M, N, K) > 1.1 * size else (M, N, K)


def _sixteen(name: str) -> tuple[dict[str, int], ...]:
    """Return the 16 × 16 blocks of the slides."""
    return ({p.name: 16 for p in get(name).parameters if p.name in ("BM", "BN", "BK", "bx", "by", "TILE", "UNROLL")},)


def _on_gpu(how: Mapping[str, Any]) -> bool:
    return (how.get("backend") or choose_backend()) == "gpu"
