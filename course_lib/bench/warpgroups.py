"""Four more disciplines of the race, by kernels of warpgroups: products of bfloat16, of FP8, and of float32 as three bfloat16 each.

In "bfloat16" A and B are stored as bfloat16, and sums and C are float32; the library's product is `cublasGemmEx`. In "bfloat16 to bfloat16"
C is bfloat16 too. In "FP8 to bfloat16" A and B are E4M3, and the library's product is `cublasLtMatmul`, whose sums are as short as ours. In
"three parts" all are float32, and the library's product is `cublasSgemm`; our time is that of three launches, since both matrices are split
before each product. `run_heat` measures one product, `race` all of them, several times. In a turn come the library, ours, ours, and the
library, so that a clock which falls or rises all the time slows both alike.
"""

import ctypes
import datetime
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.on_gpu import ProductInputs
from course_lib.bench.race import TRIAL_S, TURNS, Heat, clocks, line, made, trial
from course_lib.data.readings import Readings
from course_lib.errors import CourseError
from course_lib.gpu.launch import arguments, prepare_function
from course_lib.gpu.library import bind_product
from course_lib.gpu.timing import call_once, time_call
from course_lib.kernels import Kernel, get
from course_lib.kernels.bf16 import PAIRS_OF_BLOCKS
from course_lib.kernels.kernel import ceil_div
from course_lib.model.number_formats import BITS, FORMATS, to_bf16
from course_lib.run.accuracy import tolerance
from course_lib.run.inputs import BY_COLUMNS, factor_map
from course_lib.run.types import Array

SIZES = (1024, 2048, 4096, 8192)
ROWS, COLS = 128, 128           # of a tile of C; kernels with a parameter BN have so many columns
RUNS, WHOLE = 3, 16             # runs of the whole race; elements of which sizes are multiples, so that rows of FP8 are whole 16 bytes
TILES = ({"BN": 256, "STAGES": 4}, {"BN": 128, "STAGES": 6})
OUT_TILES = ({"BN": 256, "STAGES": 3}, {"BN": 256, "STAGES": 3, "GROUP": 8}, {"BN": 128, "STAGES": 6})       # beside which C's has room
DISCIPLINES: dict[str, dict[str, tuple[dict[str, int], ...]]] = {          # kernels, and the parameters that are tried
    "bfloat16": {"sbgemm_tma": TILES, "sbgemm_clusters": TILES,
                 "sbgemm_wide_stores": ({"BN": 256, "STAGES": 4}, {"BN": 256, "STAGES": 4, "GROUP": 4}, {"BN": 128, "STAGES": 6})},
    "bfloat16 to bfloat16": {"bgemm_clusters": OUT_TILES},
    "FP8 to bfloat16": {"b8gemm_clusters": OUT_TILES},
    "three parts": {"sgemm_parts": ({"GROUP": 8}, {"GROUP": 4})},
}
WHOLE_NUMBERS = np.array([0, 0x38, 0xB8], np.uint8)         # 0, 1 and -1 in E4M3
Call = Callable[[Any], object]           # puts a product on a stream


class Arrays:
    """The matrices of a heat on the GPU, and calls that make its product."""

    def __init__(self, heat: Heat) -> None:
        if any(n % WHOLE for n in (heat.M, heat.N, heat.K)):
            raise CourseError(f"{heat.M} × {heat.N} × {heat.K}: in this race sizes are multiples of {WHOLE}, so that no row is padded")
        kernel = get(next(iter(DISCIPLINES[heat.dtype])))
        self.heat, self.result, self.stored = heat, kernel.result, "" if kernel.stored == "bf16x3" else kernel.stored
        self.there = ProductInputs(heat.M, heat.N, heat.K, "float32", self.stored)
        self.A, self.B = self.there.A, self.there.B
        if self.stored:                        # they are rounded already
            self.A, self.B = (gpu.to_device(BITS[self.stored].make(self._laid_out(x, i))) for i, x in enumerate((self.A, self.B)))
        self.unwritten: Any = BITS[self.result].nan if self.result else np.float32(np.nan)
        self.C = gpu.to_device(np.full((heat.M, heat.N), self.unwritten))

    def _laid_out(self, factor: Array, which: int) -> np.ndarray:
        """Return A or B on the host, its rows as the kernel wants them: B's columns where the format asks for it."""
        values = gpu.to_host(factor)
        return np.ascontiguousarray(values.T) if which and self.stored in BY_COLUMNS else values

    def library(self) -> Call:
        """Return the call of cuBLAS, which chooses its algorithm once for each stream."""
        @cache
        def bound(stream):
            return bind_product(self.A, self.B, self.C, 1.0, 0.0, (False, self.stored in BY_COLUMNS), ctypes.c_void_p(stream))
        return lambda stream: bound(stream.ptr)()

    def ours(self, kernel: Kernel, parameters: dict[str, int]) -> Call:
        """Return the call of the course's kernel; in "three parts" it splits both matrices first."""
        if self.stored:
            return self._product(kernel, parameters, self.A, self.B)
        (a, a_shifts), (b, b_shifts) = self.parts
        more = a_shifts, b_shifts, self.A, np.int32(self.heat.K), self.B, np.int32(self.heat.N)
        steps = [_split(self.A, False, a, a_shifts), _split(self.B, True, b, b_shifts), self._product(kernel, parameters, a, b, *more)]

        def call(stream):
            for step in steps:
                step(stream)
        return call

    @cached_property
    def parts(self) -> list[tuple[Array, Array]]:
        """Return room for the parts of both matrices, and for the shifts of A's rows and of B's columns."""
        return [(gpu.to_device(np.zeros((3, *x.shape), np.uint16)), gpu.to_device(np.zeros(lines, np.int32)))
                for x, lines in ((self.A, self.heat.M), (self.B, self.heat.N))]

    def _product(self, kernel, parameters, A, B, *more):
        M, N, K = (np.int32(n) for n in (self.heat.M, self.heat.N, self.heat.K))
        maps = [factor_map(x, box) for x, box in zip((A, B, self.C), kernel.boxes, strict=False)]
        rest = () if self.result else (np.float32(0), self.C, N)
        return _bound(kernel, parameters, (self.heat.M, self.heat.N), (M, N, K, np.float32(1), *maps, *rest, *more))

    def judged(self, call: Call, inputs: str = "") -> tuple[int, float]:
        """Return how many elements a call gets wrong, and its largest error relative to the sizes of the terms, |A| |B|.

        `inputs`: as for `tolerance`, `Kernel.inputs`. What FP8 may miss grows so fast with K that it would excuse everything: there an
        element is wrong that is no number, and one that is not exact where sums are.
        """
        self.C[...] = self.unwritten
        call_once(call)
        right, size = self.there.exact()
        error = abs(_numbers(self.C) - right) / size
        if self.stored == "e4m3":
            return int((error != error).sum()) + self._wrong_whole(call), float(error.max())
        K = self.heat.K
        sums = tolerance(K, np.float32, inputs, bool(self.stored)) + tolerance(K, np.float64)
        allowed = sums + (FORMATS[self.result].unit * (1 + sums) if self.result else 0)
        return int((~(error <= allowed)).sum()), float(error.max())          # NaN is wrong

    def _wrong_whole(self, call):
        """Return how many elements a call gets wrong of a product of -1, 0 and 1: its sums have 14 bits, and none is cut off."""
        rng, kept = np.random.default_rng(self.heat.K), (self.A.copy(), self.B.copy())
        A, B = (rng.integers(-1, 2, x.shape, np.int8) for x in kept)
        self.A[...], self.B[...] = (gpu.to_device(WHOLE_NUMBERS[x]) for x in (A, B))
        self.C[...] = self.unwritten
        call_once(call)
        right = gpu.to_device(A.astype(np.float32)) @ gpu.to_device(B.astype(np.float32)).T
        self.A[...], self.B[...] = kept
        wanted = gpu.to_device(to_bf16(gpu.to_host(right)))
        differs = wanted != self.C
        return int(differs.sum())


def _numbers(C):
    """Return a result on the GPU as numbers."""
    return (C.astype(np.uint32) << 16).view(np.float32) if C.dtype == np.uint16 else C


def _split(x, by_columns, parts, shifts):
    """Return the call that splits a matrix."""
    rows, cols = (np.int32(n) for n in x.shape)
    return _bound(get("split_parts"), {}, shifts.shape, (rows, cols, x, cols, np.int32(by_columns), parts, cols, shifts))


def _bound(kernel, parameters, covered, given):
    """Return the call that launches a kernel; `covered` is what its grid must cover."""
    compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=gpu.probe().arch, defines=kernel.defines(**parameters))
    shared = kernel.dynamic_bytes(**parameters)
    function, on_device = prepare_function(compiled, kernel.entry, shared), arguments(given, {})
    grid, block = kernel.grid(*covered, **parameters), kernel.block(**parameters)
    return lambda stream: function(grid, block, on_device, shared_mem=shared)


def take_turns(library: Call, ours: Call) -> list[tuple[float, float]]:
    """Return the seconds of library and ours in each turn, of two calls each: library, ours, ours, library."""
    def once(call):
        return time_call(call, repeats=5, warmup=2, budget_s=2 * TRIAL_S).median_s

    turns = [[once(call) for call in (library, ours, ours, library)] for _ in range(TURNS)]
    return [((first + last) / 2, (second + third) / 2) for first, second, third, last in turns]


def evenly(tiles: int, multiprocessors: int) -> int:
    """Return how many blocks share tiles evenly: as few as can be, where none has more than it would with one block per multiprocessor.

    >>> [evenly(tiles, 132) for tiles in (64, 132, 133, 512)]
    [64, 132, 67, 128]
    """
    return ceil_div(tiles, ceil_div(tiles, multiprocessors))


def blocks_of(kernel: Kernel, parameters: Mapping[str, int], M: int, N: int, multiprocessors: int) -> int:
    """Return how many blocks to launch; where two are a cluster, each pair has a pair of tiles, one above the other."""
    pair = 2 if PAIRS_OF_BLOCKS in kernel.rules else 1
    return max(2, pair * evenly(ceil_div(M, pair * ROWS) * ceil_div(N, parameters.get("BN", COLS)), multiprocessors // pair))


def run_heat(arrays: Arrays, multiprocessors: int, chosen: Mapping[str, dict[str, int]] | None = None) -> Iterator[dict[str, Any]]:
    """Measure one product with each kernel of its discipline: find the fastest parameters, check the answer, take turns with the library.

    Parameters
    ----------
    chosen
        Parameters by kernel, where they have been found before.

    Yields
    ------
    dict
        The fields of `race.run_heat`; "error", the largest one relative to |A| |B|, and "library_error".
    """
    heat = arrays.heat
    for name, tried in DISCIPLINES[heat.dtype].items():
        kernel = get(name)
        choices = [chosen[name]] if chosen else [p | {"blocks": blocks_of(kernel, p, heat.M, heat.N, multiprocessors)} for p in tried]
        parameters, _ = min(((p, trial(arrays.ours(kernel, p))) for p in choices), key=itemgetter(1))
        ours, library = arrays.ours(kernel, parameters), arrays.library()
        wrong, error = arrays.judged(ours, kernel.inputs)
        _, library_error = arrays.judged(library, kernel.inputs)
        turns = take_turns(library, ours)
        low, ratio, high = statistics.quantiles([one / other for one, other in turns], n=4)
        yield {"kernel": name, **vars(heat), "parameters": parameters, "library": statistics.median(one for one, _ in turns),
               "ours": statistics.median(other for _, other in turns), "ratio": ratio, "low": low, "high": high, "wrong": wrong,
               "error": error, "library_error": library_error}


def race(sizes: Sequence[int] = SIZES, say: Callable[[str], object] = print) -> Readings:
    """Run all disciplines at all sizes on the GPU, RUNS times; say a line for each product and kernel."""
    status, device = gpu.probe(), gpu.live_device()
    for kernels in DISCIPLINES.values():
        for name in kernels:
            get(name).refuse(status.cc or (0, 0), status.name)
    arrays = [Arrays(Heat(discipline, N, N, N)) for discipline in DISCIPLINES for N in sizes]
    runs: list[list[dict[str, Any]]] = []
    for number in range(RUNS):
        say(f"run {number + 1} of {RUNS}")
        runs.append([])
        begun = datetime.datetime.now().isoformat(" ", "minutes")
        for there in arrays:
            chosen = {row["kernel"]: row["parameters"] for row in runs[0] if vars(there.heat).items() <= row.items()} if number else None
            for row in run_heat(there, device.sms, chosen):
                runs[-1].append(row)
                say(f"{line(row)}  error {row['error']:.1e}, cuBLAS's {row['library_error']:.1e}  {row['kernel']}")
        when = {"device": str(status.name), "date": begun, "clocks": clocks()}
        runs[-1] = [row | when for row in runs[-1]]
    return made(list(joined(runs)), "--warpgroups")


def joined(runs: Iterable[Sequence[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each product and kernel: medians over the runs, "low" and "high" the least and the largest ratio of a run.

    "runs" has what each run found by itself, with its device, date and clock; its "low" and "high" are the quartiles of its turns.

    >>> one = {"kernel": "a", "N": 8, "parameters": {}, "library": 2.0, "ours": 1.0, "ratio": 2.0, "low": 1.9, "high": 2.1, "wrong": 0,
    ...        "error": 0.5, "library_error": 0.25, "device": "a GPU", "date": "2026-11-28 03:30", "clocks": ""}
    >>> row, = joined([[one], [one | {"ratio": 1.5, "error": 1.0}], [one | {"ratio": 3.0}]])
    >>> row["ratio"], row["low"], row["high"], row["error"], [run["ratio"] for run in row["runs"]]
    (2.0, 1.5, 3.0, 1.0, [2.0, 1.5, 3.0])
    """
    own = ("device", "date", "clocks", "library", "ours", "ratio", "low", "high")
    for rows in zip(*runs, strict=True):
        ratios = [row["ratio"] for row in rows]
        medians = {name: statistics.median(row[name] for row in rows) for name in ("library", "ours", "ratio")}
        worst = {name: max(row[name] for row in rows) for name in ("wrong", "error", "library_error")}
        what = {name: value for name, value in rows[0].items() if name not in own}
        kept = [{name: row[name] for name in own} for row in rows]
        yield what | medians | {"low": min(ratios), "high": max(ratios)} | worst | {"runs": kept}
