"""How the work of one product is shared out among blocks, on a GPU: whole tiles, several blocks for each tile, and even shares of k-steps.

`sgemm_stream_k` does all three, by its number of blocks alone. Three kinds of rows: "time" has the time of a product, with one block at a
time on each multiprocessor or as many as fit, and with partial sums handed over, or not waited for, or neither; "runs" says how often
lesson 19's kernel was wrong in many launches, and how many different results came out, when something is left out of it, and "waits" its
time, and the time when the first block of a tile ends it.
"""

import datetime
import itertools
import math
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.bench.race import CONTESTANTS, Arrays, Heat, clocks
from course_lib.data.readings import Readings
from course_lib.gpu.launch import prepare_function
from course_lib.gpu.timing import call_once, time_call
from course_lib.kernels import get
from course_lib.kernels.parameters import MAX_DYNAMIC_SHARED
from course_lib.run.accuracy import tolerance

KERNEL, LIBRARY, FILE = "sgemm_stream_k", "cuBLAS", Path(__file__).parents[1] / "lessons" / "busy" / "even.cu"
SIZES = ((513, 513), (1025, 1025), (1025, 960), (1409, 1409), (2048, 2048))     # N, also of M, and K: 960 is cut evenly by all of SPLITS
APART = 1025                                # of this size it is also timed what handing over costs
SPLITS = (1, 2, 3, 4, 5, 6, 8)              # blocks for each tile
TILES = {"128 × 128": (128, 128, 8), "64 × 64": (64, 64, 16)}
ALONE = 120_000                             # bytes of shared memory with which a multiprocessor has one block at a time
TURNS, TRIAL_S = 7, 0.002
TWO = "even, two each"                      # blocks for each multiprocessor
HANDED_OVER, NOT_WAITED, NOT_LEFT = "handed over", "not waited for", "not left"     # partial sums; without the first, results are wrong
LAUNCHES, BLOCKS = 100, 132
LAUNCHED = ((512, 512, 512), (128, 128, 4096), (16, 16, 16896))     # M, N, K: at most two blocks for a tile; three or four; all of them
RIGHT, FLAG_UP, ARRIVAL, FIRST_ENDS = "right", "collect leaves the flag up", "added in order of arrival", "first block ends"
ADDS = "        if (row < M && col < N) atomicAdd(&C[row * ldc + col], alpha * sum);\n"
ENDED_BY_FIRST = {        # lines of the kernel, and what stands there when the first block of a tile ends it
    "        if (last < steps) {      // a later block ends this tile\n":
        "        if (first > 0) {         // an earlier block ends this tile\n",
    "            int who = block;\n            while (begins(who) > tile * steps) --who;\n": "",
    "            for (; who < block; ++who)\n": "            for (int who = block + 1; begins(who) < (tile + 1) * steps; ++who)\n",
}


def tile_of(name: str) -> dict[str, int]:
    """Return the race's parameters for a tile of `TILES`.

    >>> tile_of("64 × 64")["WM"]
    32
    """
    return next(tile for tile in CONTESTANTS["float32"][2] if (tile["BM"], tile["BN"], tile["BK"]) == TILES[name])


def choices(N: int, tile: dict[str, int], multiprocessors: int) -> dict[str, int]:
    """Return the numbers of blocks that are measured, by a name: "1" to "8" per tile, and evenly, one or two per multiprocessor.

    >>> choices(513, tile_of("128 × 128"), 132)["5"], choices(513, tile_of("128 × 128"), 132)["even"]
    (125, 132)
    """
    tiles = math.ceil(N / tile["BM"]) * math.ceil(N / tile["BN"])
    return {str(s): s * tiles for s in SPLITS} | {"even": multiprocessors, TWO: 2 * multiprocessors}


def variants() -> Iterator[tuple[str, str]]:
    """Yield lesson 19's kernel, and the kernel with one thing left out or done in another way, each with its name.

    Raises
    ------
    ValueError
        When the kernel is not the one that this was written for.
    """
    text = FILE.read_text(encoding="utf-8")
    begin, end = text.index("        if (last < steps) {"), text.index("        end = tile * steps + first;")
    yield RIGHT, text
    yield "leave without its fence", _with(text, {"    __threadfence();             // whoever sees the flag sees this sum, too\n": ""})
    yield "leave without its barrier", _with(text, {"    __syncthreads();             // all threads have written theirs\n": ""})
    yield "collect without its barrier", _with(text, {"    __syncthreads();             // nobody reads before it is there\n": ""})
    yield "collect without waiting", _with(text, {"        while (atomicAdd(&ready[who], 0) == 0) __nanosleep(20);\n": ""})
    yield "collect without its fence", _with(text, {"        __threadfence();         // the flag is read before the sums are\n": ""})
    yield FLAG_UP, _with(text, {"        ready[who] = 0;          // for the next launch\n": ""})
    yield "collect without __ldcg", _with(text, {"__ldcg(&partial[who][thread])": "partial[who][thread]"})
    yield ARRIVAL, text[:begin] + ADDS + text[end:]
    yield FIRST_ENDS, _with(text, ENDED_BY_FIRST)


def _with(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        if text.count(old) != 1:
            raise ValueError(f"the kernel has no line {old.strip()!r}")
        text = text.replace(old, new)
    return text


def with_sums(how: str) -> str:
    """Return the kernel's text with partial sums handed over, or not waited for, or neither left nor added: alpha is not negative."""
    text = get(KERNEL).source
    if how == NOT_WAITED:
        return _with(text, {"            await(ready, who);": "            if (alpha < 0.0f) await(ready, who);"})
    if how == NOT_LEFT:
        return _with(text, {"            float4* mine =": "            if (alpha >= 0.0f) continue;\n            float4* mine =",
                            "for (; who < block; ++who) {": "for (; who < block && alpha < 0.0f; ++who) {"})
    return text


def cases(N: int, K: int, tile: str) -> Iterator[tuple[str, bool, str]]:
    """Yield what is timed of a product: the share, whether a multiprocessor has one block at a time, and what becomes of partial sums."""
    for share, alone in itertools.product((*map(str, SPLITS), "even"), (True, False)):
        yield share, alone, HANDED_OVER
        if N == APART and tile == "128 × 128":
            yield from ((share, alone, how) for how in (NOT_WAITED, NOT_LEFT))
    yield TWO, False, HANDED_OVER


def _call(arrays: Arrays, parameters: dict[str, int], alone: bool, how: str) -> Callable[[Any], object]:
    """Return the call of a product with the kernel's text of `with_sums`."""
    kernel, heat = get(KERNEL), arrays.heat
    compiled = toolchain.compile_cuda(with_sums(how), name=kernel.file_name, arch=gpu.probe().arch, defines=kernel.defines(**parameters))
    # One function serves launches that ask for more shared memory and for less.
    function = prepare_function(compiled, kernel.entry, MAX_DYNAMIC_SHARED)
    shared = max(kernel.dynamic_bytes(**parameters), ALONE * alone)
    m, n, k = map(np.int32, (heat.M, heat.N, heat.K))
    sums = [gpu.to_device(np.zeros(count, dtype)) for dtype, count in kernel.workspace(**parameters)]
    arguments = (m, n, k, np.float32(1), arrays.A, k, arrays.B, n, np.float32(0), arrays.C, n, *sums)
    grid, block = kernel.grid(heat.M, heat.N, **parameters), kernel.block(**parameters)
    return lambda stream: function(grid, block, arguments, shared_mem=shared)


def timed(say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, tile and case, and cuBLAS's as the share "cuBLAS"; all of a size and tile take turns."""
    multiprocessors = gpu.live_device().sms
    for (N, K), name in itertools.product(SIZES, TILES):
        if K != N and name != "128 × 128":
            continue
        arrays, tile = Arrays(Heat("float32", N, N, K)), tile_of(name)
        counts = choices(N, tile, multiprocessors)
        calls = {(share, alone, how): _call(arrays, {**tile, "WIDE": 1, "TRANSA": 0, "TRANSB": 0, "blocks": counts[share]}, alone, how)
                 for share, alone, how in cases(N, K, name)}
        calls[LIBRARY, False, HANDED_OVER] = arrays.library()
        wrong = {case: arrays.wrong(call) for case, call in calls.items()}
        turns: dict[tuple[str, bool, str], list[float]] = {case: [] for case in calls}
        for _, (case, call) in itertools.product(range(TURNS), calls.items()):
            turns[case].append(time_call(call, repeats=3, warmup=1, budget_s=TRIAL_S).median_s)
        for (share, alone, how), times in turns.items():
            low, median, high = np.percentile(times, [25, 50, 75]).tolist()
            yield {"kind": "time", "kernel": KERNEL, "N": N, "K": K, "tile": name, "share": share, "blocks": counts.get(share, 0),
                   "alone": alone, "sums": how, "median_s": median, "low_s": low, "high_s": high, "wrong": wrong[share, alone, how]}
        say(f"{N:5} {K:5} {name:10} " + " ".join(f"{share}: {1e6 * statistics.median(times):.1f}"
            for (share, alone, how), times in turns.items() if alone and how == HANDED_OVER) + " us")


def launched(M: int, N: int, K: int, say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant of lesson 19's kernel: launches, those with wrong elements, and different results."""
    arrays, arguments = _product(M, N, K)
    product, size = arrays.there.exact()
    allowed = tolerance(K, "float32") * size
    for name, source in variants():
        if name == FIRST_ENDS:                                                   # right, and slow: see `waited`
            continue
        compiled, wrong, seen = _compiled(source), 0, set()
        for _ in range(LAUNCHES):
            function = _fresh(compiled)
            arrays.C[...] = 0 if name == ARRIVAL else np.nan
            call_once(_launch(function, arguments))
            wrong += bool((~(abs(arrays.C - product) <= allowed)).any())         # NaN is wrong
            seen.add(arrays.C.get().tobytes())
        say(f"{M} × {N} × {K}, {name}: wrong in {wrong} of {LAUNCHES} launches, {len(seen)} different results")
        yield {"kind": "runs", "kernel": "even", "variant": name, "M": M, "N": N, "K": K, "blocks": BLOCKS, "launches": LAUNCHES,
               "wrong_launches": wrong, "results": len(seen)}


def waited(say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row with the time of lesson 19's kernel, and one with its time when the first block of a tile ends it."""
    M, N, K = LAUNCHED[0]
    arrays, arguments = _product(M, N, K)
    for name in (RIGHT, FIRST_ENDS):
        call = _launch(_fresh(_compiled(dict(variants())[name])), arguments)
        wrong, found = arrays.wrong(call), time_call(call, repeats=TURNS, warmup=1)
        say(f"{M} × {N} × {K}, {name}: {1e6 * found.median_s:.1f} us; wrong {wrong}")
        yield {"kind": "waits", "kernel": "even", "variant": name, "M": M, "N": N, "K": K, "blocks": BLOCKS, "median_s": found.median_s,
               "wrong": wrong}


def _product(M: int, N: int, K: int) -> tuple[Arrays, tuple[Any, ...]]:
    """Return matrices on the GPU, and the arguments of lesson 19's kernel."""
    arrays, (m, n, k) = Arrays(Heat("float32", M, N, K)), map(np.int32, (M, N, K))
    return arrays, (m, n, k, np.float32(1), arrays.A, k, arrays.B, n, np.float32(0), arrays.C, n)


def _compiled(source: str) -> toolchain.Compiled:
    """Return lesson 19's kernel, or a variant, compiled for `BLOCKS` blocks."""
    return toolchain.compile_cuda(source.replace("#define BLOCKS 7 ", f"#define BLOCKS {BLOCKS} "), name=FILE.name, arch=gpu.probe().arch)


def _fresh(compiled: toolchain.Compiled) -> Any:
    """Return a kernel's function; no flag is raised, and the partial sums are NaN."""
    return prepare_function(compiled, "even", 0, {
        "ready": np.zeros(BLOCKS, np.int32), "partial": np.full((BLOCKS, 256), np.nan, np.float32)})


def _launch(function: Any, arguments: tuple[Any, ...]) -> Callable[[Any], object]:
    return lambda stream: function((BLOCKS,), (16, 16), arguments)


def record(say: Callable[[str], object] = print) -> Readings:
    """Measure everything on this machine's GPU, in less than a minute."""
    rows = [*itertools.chain.from_iterable(launched(*shape, say) for shape in LAUNCHED), *waited(say), *timed(say)]
    status = gpu.probe()
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    made_by = f"python -m course_lib.bench sharing; NVRTC {nvrtc}; {clocks()}"
    sources = {KERNEL: fingerprint_of(get(KERNEL)), "even": fingerprint(FILE.read_text(encoding="utf-8"))}
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(), made_by, tuple(rows), sources)
