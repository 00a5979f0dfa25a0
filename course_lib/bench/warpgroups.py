"""Two more disciplines of the race, by kernels of warpgroups: products of bfloat16, and of float32 as three bfloat16 each.

In "bfloat16" A and B are stored as bfloat16, and sums and C are float32; the library's product is `cublasGemmEx`. In "three parts" all are
float32, and the library's product is `cublasSgemm`; our time is that of three launches, since both matrices are split before each product.
`run_heat` measures one product, `race` all of them. In a turn come the library, ours, ours, and the library, so that a clock which falls
or rises all the time slows both alike.
"""

import ctypes
import statistics
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.on_gpu import ProductInputs
from course_lib.bench.race import TRIAL_S, TURNS, Heat, line, made, trial
from course_lib.data.readings import Readings
from course_lib.errors import CourseError
from course_lib.gpu.launch import arguments, prepare_function
from course_lib.gpu.library import bind_product
from course_lib.gpu.timing import call_once, time_call
from course_lib.kernels import KERNELS, Kernel, get
from course_lib.run.accuracy import tolerance
from course_lib.run.inputs import WHOLE_ROWS, factor_map

SIZES = (1024, 2048, 4096, 8192)
TILES = ({"BN": 256, "STAGES": 4}, {"BN": 128, "STAGES": 6})
DISCIPLINES: dict[str, dict[str, tuple[dict[str, int], ...]]] = {          # kernels, and the parameters that are tried
    "bfloat16": {name: TILES for name in ("sbgemm_tma", "sbgemm_clusters") if name in KERNELS},
    "three parts": {"sgemm_parts": ({"GROUP": 8}, {"GROUP": 4})},
}
Call = Callable[[Any], object]           # puts a product on a stream


class Arrays:
    """The matrices of a heat on the GPU, and calls that make its product."""

    def __init__(self, heat: Heat) -> None:
        if any(n % WHOLE_ROWS for n in (heat.M, heat.N, heat.K)):
            raise CourseError(f"{heat.M} × {heat.N} × {heat.K}: in this race sizes are multiples of {WHOLE_ROWS}, so that no row is padded")
        self.heat, self.stored = heat, heat.dtype == "bfloat16"
        self.there = ProductInputs(heat.M, heat.N, heat.K, "float32", "bf16" if self.stored else "")
        self.A, self.B = self.there.A, self.there.B
        if self.stored:                        # they are rounded already: the upper half of each number is the bfloat16
            self.A, self.B = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in (self.A, self.B))
        self.C = gpu.to_device(np.full((heat.M, heat.N), np.nan, np.float32))

    def library(self) -> Call:
        """Return the call of cuBLAS."""
        def call(stream):
            bind_product(self.A, self.B, self.C, 1.0, 0.0, (False, False), ctypes.c_void_p(stream.ptr))()
        return call

    def ours(self, kernel: Kernel, parameters: dict[str, int]) -> Call:
        """Return the call of the course's kernel; in "three parts" it splits both matrices first."""
        if self.stored:
            return self._product(kernel, parameters, self.A, self.B)
        parts = [gpu.to_device(np.zeros((3, *x.shape), np.uint16)) for x in (self.A, self.B)]
        steps = [_split(x, there) for x, there in zip((self.A, self.B), parts, strict=True)]
        steps.append(self._product(kernel, parameters, *parts))

        def call(stream):
            for step in steps:
                step(stream)
        return call

    def _product(self, kernel, parameters, A, B):
        M, N, K = (np.int32(n) for n in (self.heat.M, self.heat.N, self.heat.K))
        maps = (factor_map(x, box) for x, box in zip((A, B), kernel.boxes, strict=True))
        return _bound(kernel, parameters, (self.heat.M, self.heat.N), (M, N, K, np.float32(1), *maps, np.float32(0), self.C, N))

    def judged(self, call: Call, inputs: str = "") -> tuple[int, float]:
        """Return how many elements a call gets wrong, and its largest error relative to the sizes of the terms, |A| |B|.

        `inputs`: as for `tolerance`, `Kernel.inputs`.
        """
        self.C[...] = np.nan
        call_once(call)
        right, size = self.there.exact()
        error = abs(self.C - right) / size
        K = self.heat.K
        allowed = tolerance(K, np.float32, inputs, self.stored) + tolerance(K, np.float64)
        return int((~(error <= allowed)).sum()), float(error.max())          # NaN is wrong


def _split(x, parts):
    """Return the call that splits a matrix."""
    rows, cols = (np.int32(n) for n in x.shape)
    return _bound(get("split_parts"), {}, x.shape, (rows, cols, x, cols, parts, cols))


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


def run_heat(heat: Heat, multiprocessors: int) -> Iterator[dict[str, Any]]:
    """Measure one product with each kernel of its discipline: find the fastest parameters, check the answer, take turns with the library.

    Yields
    ------
    dict
        The fields of `race.run_heat`; "error", the largest one relative to |A| |B|, and "library_error".
    """
    arrays = Arrays(heat)
    for name, tried in DISCIPLINES[heat.dtype].items():
        kernel = get(name)
        blocks = multiprocessors // 2 * 2          # two are a cluster
        choices = [parameters | {"blocks": blocks} for parameters in tried]
        parameters, _ = min(((p, trial(arrays.ours(kernel, p))) for p in choices), key=itemgetter(1))
        ours, library = arrays.ours(kernel, parameters), arrays.library()
        wrong, error = arrays.judged(ours, kernel.inputs)
        _, library_error = arrays.judged(library)
        turns = take_turns(library, ours)
        low, ratio, high = statistics.quantiles([one / other for one, other in turns], n=4)
        yield {"kernel": name, **vars(heat), "parameters": parameters, "library": statistics.median(one for one, _ in turns),
               "ours": statistics.median(other for _, other in turns), "ratio": ratio, "low": low, "high": high, "wrong": wrong,
               "error": error, "library_error": library_error}


def race(sizes: Sequence[int] = SIZES, say: Callable[[str], object] = print) -> Readings:
    """Run both disciplines at all sizes on the GPU; say a line for each product and kernel."""
    status, device = gpu.probe(), gpu.live_device()
    rows = []
    for discipline, kernels in DISCIPLINES.items():
        for name in kernels:
            get(name).refuse(status.cc or (0, 0), status.name)
        for N in sizes:
            for row in run_heat(Heat(discipline, N, N, N), device.sms):
                rows.append(row)
                say(f"{line(row)}  error {row['error']:.1e}, cuBLAS's {row['library_error']:.1e}  {row['kernel']}")
    return made(rows, "--warpgroups")
