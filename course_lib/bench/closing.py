"""Lesson 15's steps from `sgemm_2d_tile` to the library: the kernels between, and their measurement beside cuBLAS in one process.

Four of them are one text, `fed.cu`, in which one thing is changed: where the lanes of a warp lie, or the order of the products.
`python -m tools record closing` measures all of them.
"""

import ctypes
import statistics
import subprocess
from collections.abc import Callable, Iterable
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
MEASURED = ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_prefetched", "fed", "sgemm_warp_tile")       # at all sizes
ROW, COL = "const int lane_row = lane / 2 % 2 + lane / 4 % 4 * 2;", "const int lane_col = lane % 2 + lane / 16 * 2;"
FIRST_ROW, FIRST_COL = "const int row = warp / 4 * 64 + 4 * lane_row;", "const int col = warp % 4 * 32 + 4 * lane_col;"
STORED = "r = row0 + row + i / 4 * 32 + i % 4, c = col0 + col + j / 4 * 16 + j % 4;"
WIDE_LANES = (                             # each row of the block's threads is a row of its tile, as in sgemm_vectorized
    (ROW, ""), (COL, ""), (FIRST_ROW, "const int row = t / 16 * 8;"), (FIRST_COL, "const int col = t % 16 * 8;"),
    ("&As[k][row + 32]", "&As[k][row + 4]"), ("&Bs[k][col + 16]", "&Bs[k][col + 4]"), (STORED, "r = row0 + row + i, c = col0 + col + j;"))
PLAIN_LANES = ((ROW, "const int lane_row = lane / 4;"), (COL, "const int lane_col = lane % 4;"))    # neighbours read neighbouring words
THERE_AND_BACK = (("for (int j = 0; j < TN; ++j)\n                    sum[i][j] +=",
                   "for (int n = 0, j; n < TN; ++n)\n                    j = i % 2 ? TN - 1 - n : n, sum[i][j] +="),)
CHANGES = {"wide": WIDE_LANES, "plain": PLAIN_LANES, "fed": (), "fed_there_and_back": THERE_AND_BACK}


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

    >>> list(steps())[4:8]
    ['sgemm_stream_k', 'wide', 'plain', 'fed']
    """
    ladder = ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_prefetched", "sgemm_warp_tile", "sgemm_stream_k")
    fed = FED.read_text(encoding="utf-8")
    return {name: get(name) for name in ladder} | {name: UserKernel.from_source(changed(fed, one)) for name, one in CHANGES.items()}


def parameters_of(name: str, N: int) -> dict[str, int] | None:
    """Return what a kernel is measured with at a size; None where it is not measured. `sgemm_stream_k` as the race chose for the size."""
    if name == "sgemm_stream_k":
        found, = data.readings("race").find(kernel=name, dtype="float32", M=N, N=N, K=N, TRANSA=0, TRANSB=0, beta=0)
        return dict(found["parameters"])
    return {} if N in EXPERIMENTS or name in MEASURED else None


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
    given = {name: parameters for name in steps() if (parameters := parameters_of(name, N)) is not None}
    calls = {"cuBLAS": product.library()} | {name: product.ours(steps()[name], parameters) for name, parameters in given.items()}
    wrong = {label: product.wrong(call) for label, call in calls.items()}
    turns = [{label: time_call(call, repeats=5, warmup=2, budget_s=BUDGET_S).median_s for label, call in calls.items()}
             for _ in range(TURNS)]
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
    """Return rows with the machine code of a loop of products in registers alone, row by row and there and back."""
    rows = []
    for order, name in enumerate(("outer_in_rows", "outer_there_and_back")):
        code = toolchain.inner_loop(get("micro_outer"), arch="sm_90", **get("micro_outer").check(SERPENTINE=order))
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
