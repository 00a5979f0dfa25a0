"""How much copying ahead is worth: `dgemm_mma`, `dgemm_stages` with more and more stages and cuBLAS, in turn, on one GPU.

`contestants()` lists what is compared, `record` measures it. Lesson 17 shows what was recorded.
"""

import datetime
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.on_gpu import inputs
from course_lib.data.readings import Readings
from course_lib.gpu.clock import clock_under
from course_lib.gpu.library import bind_product, library_version
from course_lib.gpu.timing import time_call
from course_lib.kernels import get

SIZES = (1024, 4096)
TURNS = 7                     # how often all take their turn
TURN_S = 0.012                # seconds for each of them in a turn
LOAD_S = 0.25                 # seconds of work that the clock is read in
TILE = {"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32}


@dataclass(frozen=True)
class Contestant:
    """One kernel with its parameters.

    Attributes
    ----------
    kernel
        Its name in the catalog, or "cuBLAS".
    stages
        Of `dgemm_stages`; 0 for the others.
    """

    kernel: str
    stages: int = 0

    @property
    def parameters(self) -> dict[str, int]:
        """Return the kernel's parameters; none for cuBLAS."""
        return {} if self.kernel == "cuBLAS" else TILE | ({"STAGES": self.stages} if self.stages else {})


def contestants() -> Iterator[Contestant]:
    """Yield cuBLAS, `dgemm_mma`, and `dgemm_stages` with every number of stages.

    >>> [one.stages for one in contestants()]
    [0, 0, 1, 2, 3, 4, 5]
    """
    yield from (Contestant("cuBLAS"), Contestant("dgemm_mma"))
    yield from (Contestant("dgemm_stages", stages) for stages in (1, 2, 3, 4, 5))


class _Product:
    """The matrices of one size on the GPU, and calls that multiply them."""

    def __init__(self, N: int) -> None:
        self.N, self.there = N, inputs(N, N, N, "float64")
        self.C = gpu.to_device(np.full((N, N), np.nan))

    def call(self, one: Contestant) -> Callable[[Any], object]:
        if one.kernel == "cuBLAS":
            return lambda stream: bind_product(self.there.A, self.there.B, self.C, 1.0, 0.0, (False, False), _pointer(stream))()
        from course_lib.gpu.launch import prepare_function

        kernel, n = get(one.kernel), np.int32(self.N)
        shared = kernel.dynamic_bytes(**one.parameters)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=gpu.probe().arch,
                                          defines=kernel.defines(**one.parameters))
        function = prepare_function(compiled, kernel.entry, shared)
        arguments = (n, n, n, np.float64(1), self.there.A, n, self.there.B, n, np.float64(0), self.C, n)
        grid, block = kernel.grid(self.N, self.N, **one.parameters), kernel.block(**one.parameters)
        return lambda stream: function(grid, block, arguments, shared_mem=shared)

    def wrong(self, call: Callable[[Any], object]) -> str:
        """Return what is wrong with a call's answer, or nothing; C holds NaN before."""
        from course_lib.gpu.timing import call_once

        self.C[...] = np.nan
        call_once(call)
        return self.there.check(self.C) or ""


def _pointer(stream):
    import ctypes

    return ctypes.c_void_p(stream.ptr)


def measure(N: int, every: Sequence[Contestant], say: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Measure all contestants at one size in turn; yield a row for each.

    A row has the contestant's fields, "kernel", "N", seconds "median_s", "low_s" and "high_s" (quartiles of the turns), "wrong" (what is
    wrong with the answer, or nothing), and "clock_mhz" and "power_w" where they could be read during the launches.
    """
    product = _Product(N)
    calls = {one: product.call(one) for one in every}
    wrong = {one: product.wrong(call) for one, call in calls.items()}
    turns = [{one: time_call(call, repeats=5, warmup=2, budget_s=TURN_S).median_s for one, call in calls.items()} for _ in range(TURNS)]
    for one, call in calls.items():
        low, median, high = statistics.quantiles([turn[one] for turn in turns], n=4)
        row = {"N": N, **asdict(one), "parameters": one.parameters, "median_s": median, "low_s": low, "high_s": high,
               "wrong": wrong[one], **clock_under(call, int(LOAD_S / median) + 1)}
        say(f"{one.kernel:13} N {N}  stages {one.stages}  {2e-12 * N**3 / median:.1f} TFLOP/s "
            f"{row.get('clock_mhz')} MHz {wrong[one]}")
        yield row


def record(say: Callable[[str], object] = print, sizes: Sequence[int] = SIZES) -> Readings:
    """Measure all contestants at all sizes on this machine's GPU; say a line for each."""
    status = gpu.probe()
    every = tuple(contestants())
    rows = [row for N in sizes for row in measure(N, every, say)]
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    made_by = f"python -m course_lib.bench stages; cuBLAS {library_version()}, NVRTC {nvrtc}"
    sources = {name: fingerprint_of(get(name)) for name in ("dgemm_mma", "dgemm_stages")}
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(), made_by, tuple(rows), sources)
