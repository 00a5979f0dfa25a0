"""How the work of one product is shared out among blocks, on a GPU: whole tiles, tiles split along K, and even shares of k-steps.

`sgemm_stream_k` does all three, by its number of blocks alone. Two kinds of rows: "time" has the time of a product, and "runs" how often
lesson 19's kernel was wrong in many launches, and how many different results came out, when something is left out of it.
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
SIZES = (512, 513, 768, 1024, 1025, 1408, 1409, 1536, 2048, 2049)
SPLITS = (1, 2, 3, 4, 5, 6, 8)              # blocks for each tile
TILES = {"128 × 128": (128, 128, 8), "64 × 64": (64, 64, 16)}
ALONE = 120_000                             # bytes of shared memory with which a multiprocessor has one block at a time
TURNS, TRIAL_S = 5, 0.004
LAUNCHES, BLOCKS = 100, 132
LAUNCHED = ((512, 512, 512), (128, 128, 4096))      # M, N, K: at most two blocks for a tile; then 64 tiles, and three or four for each
ARRIVAL = "        if (row < M && col < N) atomicAdd(&C[row * ldc + col], alpha * sum);\n"


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


def variants(text: str) -> Iterator[tuple[str, str]]:
    """Yield lesson 19's kernel, and the kernel with one thing left out or done in another way, each with its name.

    Raises
    ------
    ValueError
        When the text is not the one that this was written for.
    """
    begin, end = text.index("        if (last < steps) {"), text.index("        end = tile * steps + first;")
    changed = {
        "right": text,
        "leave without its fence": _without(text, "    __threadfence();             // whoever sees the flag sees this sum, too\n"),
        "leave without its barrier": _without(text, "    __syncthreads();             // all threads have written theirs\n"),
        "collect without its barrier": _without(text, "    __syncthreads();             // nobody reads before it is there\n"),
        "collect without waiting": _without(text, "        while (atomicAdd(&ready[who], 0) == 0) __nanosleep(20);\n"),
        "added in order of arrival": text[:begin] + ARRIVAL + text[end:],
    }
    yield from changed.items()


def _without(text: str, line: str) -> str:
    if text.count(line) != 1:
        raise ValueError(f"the kernel has no line {line.strip()!r}")
    return text.replace(line, "")


def timed(say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, tile, number of blocks per tile, and for one or several blocks on a multiprocessor at a time."""
    multiprocessors = gpu.live_device().sms
    for N, name, least in itertools.product(SIZES, TILES, (ALONE, 0)):
        arrays, tile = Arrays(Heat("float32", N, N, N)), tile_of(name)
        fixed = {**tile, "WIDE": 1 if N % 4 else 4, "TRANSA": 0, "TRANSB": 0}
        counts = choices(N, tile, multiprocessors)
        calls = {how: arrays.ours({**fixed, "blocks": blocks}, least) for how, blocks in counts.items()}
        wrong = {how: arrays.wrong(call) for how, call in calls.items()}
        turns: dict[str, list[float]] = {how: [] for how in calls}
        for _ in range(TURNS):
            for how, call in calls.items():
                turns[how].append(time_call(call, repeats=3, warmup=1, budget_s=TRIAL_S).median_s)
        for how, times in turns.items():
            low, median, high = statistics.quantiles(times, n=4)
            yield {"kind": "time", "kernel": KERNEL, "N": N, "tile": name, "share": how, "blocks": counts[how], "alone": bool(least),
                   "median_s": median, "low_s": low, "high_s": high, "wrong": wrong[how]}
        say(f"{N:5} {name:10} {'alone' if least else 'shared':6} " + " ".join(f"{how}: {1e6 * statistics.median(times):.1f}"
            for how, times in turns.items()) + f" us; wrong {sum(wrong.values())}")


def launched(M: int, N: int, K: int, say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant of lesson 19's kernel: launches, those with wrong elements, and different results."""
    arrays = Arrays(Heat("float32", M, N, K))
    product, size = arrays.there.exact()
    allowed, (m, n, k) = tolerance(K, "float32") * size, map(np.int32, (M, N, K))
    arguments = (m, n, k, np.float32(1), arrays.A, k, arrays.B, n, np.float32(0), arrays.C, n)
    text = FILE.read_text(encoding="utf-8").replace("#define BLOCKS 7 ", f"#define BLOCKS {BLOCKS} ")
    for name, source in variants(text):
        compiled = toolchain.compile_cuda(source, name=FILE.name, arch=gpu.probe().arch)
        wrong, seen = 0, set()
        for _ in range(LAUNCHES):
            function = prepare_function(compiled, "even", 0, {
                "ready": np.zeros(BLOCKS, np.int32), "partial": np.full((BLOCKS, 256), np.nan, np.float32)})
            arrays.C[...] = 0 if name.startswith("added") else np.nan
            call_once(_launch(function, arguments))
            wrong += bool((~(abs(arrays.C - product) <= allowed)).any())         # NaN is wrong
            seen.add(arrays.C.get().tobytes())
        say(f"{M} × {N} × {K}, {name}: wrong in {wrong} of {LAUNCHES} launches, {len(seen)} different results")
        yield {"kind": "runs", "kernel": "even", "variant": name, "M": M, "N": N, "K": K, "blocks": BLOCKS, "launches": LAUNCHES,
               "wrong_launches": wrong, "results": len(seen)}


def _launch(function: Any, arguments: tuple[Any, ...]) -> Callable[[Any], object]:
    return lambda stream: function((BLOCKS,), (16, 16), arguments)


def record(say: Callable[[str], object] = print) -> Readings:
    """Measure everything on this machine's GPU, in about a minute."""
    rows = [*timed(say), *itertools.chain.from_iterable(launched(*shape, say) for shape in LAUNCHED)]
    status = gpu.probe()
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    made_by = f"python -m course_lib.bench sharing; NVRTC {nvrtc}; {clocks()}"
    sources = {KERNEL: fingerprint_of(get(KERNEL)), "even": fingerprint(FILE.read_text(encoding="utf-8"))}
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(), made_by, tuple(rows), sources)
