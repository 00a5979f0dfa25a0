"""Lesson 15's steps from `sgemm_2d_tile` to the library: the kernels between, and their measurement beside cuBLAS in one process.

Five of them are one text, `fed.cu`, in which one thing is changed: where the lanes of a warp lie, or the order of the products. Others
are `sgemm_warp_tile` with that order, and without loads ahead of use. `python -m tools record closing` measures all of them.
"""

import ctypes
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import data, gpu, toolchain
from course_lib.bench.on_gpu import inputs
from course_lib.bench.tuned import TUNED_SIZES
from course_lib.gpu.library import bind_product
from course_lib.gpu.timing import call_once, time_call
from course_lib.kernels import Kernel, UserKernel, get

FED = Path(__file__).with_name("fed.cu")
TURNS, BUDGET_S = 7, 0.01                  # turns of all kernels one after another; seconds of each in a turn
CLOCK_N, CLOCK_S = 4096, 0.7               # the size at which the clock is read, and how long a kernel runs meanwhile
EXPERIMENTS = (1024, 2048, 4096, 8192)     # sizes at which the changed texts are measured
SHARED_OUT = {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 64, "TM": 16, "TN": 8, "STAGES": 4, "RESIDENT": 2}
MEASURED = ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered", "fed")       # at all sizes
WIDE_LANES = (                             # each row of the block's threads is a row of its tile, as in sgemm_vectorized
    ("const int row = warp / 4 * 64 + (lane / 2 % 2 + lane / 4 % 4 * 2) * 4;", "const int row = t / 16 * 8;"),
    ("const int col = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;", "const int col = t % 16 * 8;"),
    ("&As[k][row + 32]", "&As[k][row + 4]"), ("&Bs[k][col + 16]", "&Bs[k][col + 4]"),
    ("r = row0 + row + i / 4 * 32 + i % 4, c = col0 + col + j / 4 * 16 + j % 4;", "r = row0 + row + i, c = col0 + col + j;"))
PAIRED_LANES = (                           # as flat, but neighbouring lanes read neighbouring words, and pairs of lanes the same
    ("const int row = warp / 4 * 64 + (lane / 2 % 2 + lane / 4 % 4 * 2) * 4;", "const int row = warp * 16 + lane / 2 % 2 * 4;"),
    ("const int col = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;", "const int col = (lane % 2 + lane / 4 * 2) * 4;"),
    ("&As[k][row + 32]", "&As[k][row + 8]"), ("&Bs[k][col + 16]", "&Bs[k][col + 64]"),
    ("r = row0 + row + i / 4 * 32 + i % 4, c = col0 + col + j / 4 * 16 + j % 4;",
     "r = row0 + row + i / 4 * 8 + i % 4, c = col0 + col + j / 4 * 64 + j % 4;"))
IN_ROWS = (("const int j = i % 2 ? TN - 1 - n : n;", "const int j = n;"),)
THERE_AND_BACK = (("for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];",
                   "for (int n = 0, j; n < TN; ++n) j = i % 2 ? TN - 1 - n : n, acc[i][j] += a[i] * b[j];"),)

EARLY = "        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products\n"
DONE = "        __syncthreads();                       // nobody overwrites before all have read\n"
LATE = ((EARLY, ""), (DONE, DONE + EARLY))         # the next tiles are asked for when nobody multiplies any more


def changed(text: str, changes: Iterable[tuple[str, str]]) -> str:
    """Return a kernel's text with each first string replaced by the second.

    Raises
    ------
    ValueError
        When a first string does not stand there exactly once.

    >>> changed("a + b", [("a", "c")])
    'c + b'
    """
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in the kernel, and not once")
        text = text.replace(old, new)
    return text


@cache
def steps() -> dict[str, Kernel]:
    """Return the kernels by name, those of the catalog and the changed texts.

    >>> list(steps())[:4]
    ['sgemm_2d_tile', 'wide', 'wide_paired', 'fed_in_rows']
    """
    fed, warp = FED.read_text(encoding="utf-8"), get("sgemm_warp_tile").source
    return {"sgemm_2d_tile": get("sgemm_2d_tile"),
            "wide": UserKernel.from_source(changed(fed, WIDE_LANES + IN_ROWS)),
            "wide_paired": UserKernel.from_source(changed(fed, PAIRED_LANES + IN_ROWS)),
            "fed_in_rows": UserKernel.from_source(changed(fed, IN_ROWS)),
            "fed": UserKernel.from_source(fed),
            "wide_there_and_back": UserKernel.from_source(changed(fed, WIDE_LANES)),
            "sgemm_vectorized": get("sgemm_vectorized"),
            "sgemm_warp_tile": get("sgemm_warp_tile"),
            "warp_tile_there_and_back": UserKernel.from_source(changed(warp, THERE_AND_BACK), like="sgemm_warp_tile"),
            "warp_tile_late": UserKernel.from_source(changed(warp, LATE), like="sgemm_warp_tile"),
            "sgemm_double_buffered": get("sgemm_double_buffered"),
            "sgemm_stream_k": get("sgemm_stream_k")}


def parameters_of(name: str, N: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield what a kernel is measured with at a size: (label, parameters).

    `sgemm_stream_k` is measured twice: as the race chose it for this size, and ("sgemm_stream_k, one tile") with the same tile everywhere.
    """
    if name != "sgemm_stream_k":
        if N in EXPERIMENTS or name in MEASURED:
            yield name, {}
        return
    row, = data.readings("race").find(kernel=name, dtype="float32", M=N, N=N, K=N, TRANSA=0, TRANSB=0, beta=0)
    yield name, row["parameters"]
    more = {"WIDE": 1 if N % 4 else 4, "TRANSA": 0, "TRANSB": 0, "blocks": 264}
    yield f"{name}, one tile", SHARED_OUT | more


class Product:
    """Matrices of one size on the GPU, and calls that multiply them."""

    def __init__(self, N: int) -> None:
        self.N, self.there = N, inputs(N, N, N, "float32")
        self.C = gpu.to_device(np.full((N, N), np.nan, np.float32))

    def library(self) -> Callable[[Any], object]:
        """Return the call of cuBLAS."""
        return lambda stream: bind_product(self.there.A, self.there.B, self.C, 1.0, 0, (False, False), ctypes.c_void_p(stream.ptr))()

    def ours(self, kernel: Kernel, given: dict[str, int]) -> Callable[[Any], object]:
        """Return the call of a kernel."""
        from course_lib.gpu.launch import prepare_function

        values = kernel.check(**given)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=gpu.probe().arch, defines=kernel.defines(**values))
        shared = kernel.dynamic_bytes(**values)
        function, n = prepare_function(compiled, kernel.entry, shared), np.int32(self.N)
        more = [gpu.to_device(np.zeros(count, dtype)) for dtype, count in kernel.workspace(**values)]
        arguments = (n, n, n, np.float32(1), self.there.A, n, self.there.B, n, np.float32(0), self.C, n, *more)
        grid, block = kernel.grid(self.N, self.N, **values), kernel.block(**values)
        return lambda stream: function(grid, block, arguments, shared_mem=shared)

    def wrong(self, call: Callable[[Any], object]) -> str:
        """Return what is wrong with a call's answer, or nothing; C is NaN before."""
        self.C[...] = np.nan
        call_once(call)
        return self.there.check(self.C) or ""


def measure(N: int) -> list[dict[str, Any]]:
    """Measure all kernels and cuBLAS at one size, in turn; return a row for each: median and quartiles in seconds, and of the ratio."""
    product = Product(N)
    plan = [(label, name, given) for name in steps() for label, given in parameters_of(name, N)]
    calls = {"cuBLAS": product.library()} | {label: product.ours(steps()[name], given) for label, name, given in plan}
    wrong = {label: product.wrong(call) for label, call in calls.items()}
    turns = [{label: time_call(call, repeats=5, warmup=2, budget_s=BUDGET_S).median_s for label, call in calls.items()}
             for _ in range(TURNS)]
    given = {label: parameters for label, _, parameters in plan}
    rows = []
    for label, call in calls.items():
        low, median, high = statistics.quantiles([turn[label] for turn in turns], n=4)
        ratios = statistics.quantiles([turn["cuBLAS"] / turn[label] for turn in turns], n=4)
        rows.append({"kernel": label, "N": N, "parameters": given.get(label, {}), "median_s": median, "low_s": low, "high_s": high,
                     "ratio": round(ratios[1], 4), "ratio_low": round(ratios[0], 4), "ratio_high": round(ratios[2], 4),
                     "wrong": wrong[label]} | ({"clock_mhz": clock(call)} if N == CLOCK_N else {}))
    return rows


def clock(call: Callable[[Any], object]) -> int:
    """Return the clock of the multiprocessors in MHz, as nvidia-smi reads it while a call is repeated."""
    asked = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as reading:
        time_call(call, repeats=10_000, budget_s=CLOCK_S)
        told, _ = reading.communicate(timeout=10)
    return int(told.split()[0])


def machine_code() -> list[dict[str, Any]]:
    """Return rows with the machine code of the loop over k: of the reader's kernel in both orders, and of products in registers alone."""
    found = [(name, kernel, kernel.check()) for name, kernel in steps().items() if name in ("fed", "fed_in_rows")]
    outer = get("micro_outer")
    found += [(name, outer, outer.check(SERPENTINE=order)) for order, name in enumerate(("outer_in_rows", "outer_there_and_back"))]
    rows = []
    for name, kernel, values in found:
        code = toolchain.inner_loop(kernel, arch="sm_90", **values)
        rows.append({"code": name, "nvrtc": ".".join(map(str, code.nvrtc_version)),
                     "instructions": [[i.opcode, *i.operands] for i in code.loop.instructions]})
    return rows


def record(sizes: Iterable[int] = TUNED_SIZES, say: Callable[[str], object] = print) -> list[dict[str, Any]]:
    """Measure all sizes, and add the machine code; say a line for each size."""
    rows = []
    for N in sizes:
        rows += (here := measure(N))
        say(f"{N:5} " + "  ".join(f"{row['kernel']} {row['ratio']:.3f}" + " WRONG" * bool(row["wrong"]) for row in here))
    return rows + machine_code()
