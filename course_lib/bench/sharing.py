"""How the work of one product is shared out among blocks, on a GPU: whole tiles, several blocks for each tile, and even shares of k-steps.

`sgemm_stream_k` does all three, by its number of blocks alone. Three kinds of rows: "time" has the time of a product, "runs" how often
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
from course_lib.run.accuracy import tolerance

KERNEL, FILE = "sgemm_stream_k", Path(__file__).parents[1] / "lessons" / "busy" / "even.cu"
SIZES = (513, 1025, 1409, 1536, 2048, 2049)
SPLITS = (1, 2, 3, 4, 5, 6, 8)              # blocks for each tile
TILES = {"128 × 128": (128, 128, 8), "64 × 64": (64, 64, 16)}
ALONE = 120_000                             # bytes of shared memory with which a multiprocessor has one block at a time
TURNS, TRIAL_S = 5, 0.004
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
    """Return the numbers of blocks that are measured, by a name: "1" to "8" per tile, and "even", one per multiprocessor.

    >>> choices(513, tile_of("128 × 128"), 132)["5"], choices(513, tile_of("128 × 128"), 132)["even"]
    (125, 132)
    """
    tiles = math.ceil(N / tile["BM"]) * math.ceil(N / tile["BN"])
    return {str(s): s * tiles for s in SPLITS} | {"even": multiprocessors}


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


def timed(say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, tile and number of blocks per tile; a multiprocessor has one block at a time."""
    multiprocessors = gpu.live_device().sms
    for N, name in itertools.product(SIZES, TILES):
        arrays, tile = Arrays(Heat("float32", N, N, N)), tile_of(name)
        fixed = {**tile, "WIDE": 1 if N % 4 else 4, "TRANSA": 0, "TRANSB": 0}
        counts = choices(N, tile, multiprocessors)
        calls = {how: arrays.ours({**fixed, "blocks": blocks}, ALONE) for how, blocks in counts.items()}
        wrong = {how: arrays.wrong(call) for how, call in calls.items()}
        turns: dict[str, list[float]] = {how: [] for how in calls}
        for _ in range(TURNS):
            for how, call in calls.items():
                turns[how].append(time_call(call, repeats=3, warmup=1, budget_s=TRIAL_S).median_s)
        for how, times in turns.items():
            low, median, high = statistics.quantiles(times, n=4)
            yield {"kind": "time", "kernel": KERNEL, "N": N, "tile": name, "share": how, "blocks": counts[how], "median_s": median,
                   "low_s": low, "high_s": high, "wrong": wrong[how]}
        say(f"{N:5} {name:10} " + " ".join(f"{how}: {1e6 * statistics.median(times):.1f}"
            for how, times in turns.items()) + f" us; wrong {sum(wrong.values())}")


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
