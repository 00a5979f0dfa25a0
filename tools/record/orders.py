"""Record what orders of the triple loop take.

They are timed on one core of this machine, one change of the matrices at a time.

Writes cpu_orders.json into the output folder; copy it into course_lib/data/, and refresh lesson 01, which prints it. All
programs take turns, round after round, until the seconds are over. A round gives the fastest sample of a moment, in processor time of the
thread; the file holds the best, the middle and the worst round of each program, and with what it was measured.

With --apart it writes cpu_apart.json instead: the same product, whose B has equal rows, with these rows in three layouts (`LAYOUTS`), so
that a program finds the same numbers at other addresses.
"""

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import cpu_kernel
from course_lib.kernels.cpu import ORDERS
from course_lib.lessons.triple_loop.sizes import LAYOUTS, SIZES, SMALL, TIMED, Size, four_steps
from course_lib.run import matches
from course_lib.run.cpu import build_cpu, resolve_cpu
from course_lib.run.stopwatch import fastest, launches_for
from course_lib.run.turns import CLOCK, RoundTimes, prepared
from course_lib.toolchain import cpu_name
from tools import ToolError
from tools.options import out_option
from tools.record.cpu import caches, conditions
from tools.recordings import write_recording

NO_VECTORS = '#pragma GCC optimize("no-tree-vectorize", "no-tree-slp-vectorize")\n'
APART = {"ijk": "gemm_ijk", "ikj": "gemm_ikj", "one sum": four_steps(1), "four sums": four_steps(4)} | {
    f"{order}, no vectors": NO_VECTORS + cpu_kernel(f"gemm_{order}").source for order in ("ijk", "ikj")}
BUDGET_S = 0.2                            # of a program in a round; one sample where that takes longer


def plan() -> list[tuple[str, Size]]:
    """Return (program, size) of everything to time, each once."""
    pairs = [(f"gemm_{order}", size) for size in (*SIZES, *TIMED) for order in ("ijk", "ikj")]
    return pairs + [(f"gemm_{order}", size) for size in SMALL for order in ORDERS]


def rounds_of(programs: Sequence[tuple[str, Size]], seconds: float) -> list[RoundTimes]:
    """Time the programs in turns, one round at least, until so many seconds have gone since now; return the `RoundTimes` of each."""
    end = time.perf_counter() + seconds
    matrices = {size: size.matrices() for _, size in programs}
    return in_rounds([prepared(name, matrices[size]) for name, size in programs], end)


def in_rounds(calls: Sequence[Callable[[], Any]], end: float) -> list[RoundTimes]:
    """Time calls in turns, one round at least, until `end`, a time of `time.perf_counter`."""
    launches = [launches_for(call, CLOCK) for call in calls]
    times, took = [[] for _ in calls], 0.0
    while not times[0] or time.perf_counter() + took < end:
        started = time.perf_counter()
        for call, many, found in zip(calls, launches, times, strict=True):
            found.append(fastest(call, budget_s=BUDGET_S, launches=many, clock=CLOCK))
        took = time.perf_counter() - started
        print(f"round {len(times[0])}: {took:.0f} s", flush=True)
    return [RoundTimes(tuple(found)) for found in times]


def summary(spread: RoundTimes) -> dict[str, float]:
    """Return the rounds of a program as a row has them."""
    times = {"best_s": spread.best, "median_s": spread.median, "worst_s": spread.worst}
    return {"rounds": len(spread.rounds)} | {key: float(f"{value:.4g}") for key, value in times.items()}


def apart_rows(seconds: float) -> list[dict[str, Any]]:
    """Measure programs on a B of equal rows, in each of the layouts; return the rows of the recording."""
    end, load, N = time.perf_counter() + seconds, os.getloadavg()[0], TIMED[1].N
    A, row, C = (size.matrices()[i] for i, size in enumerate((TIMED[1], Size(1, N, 1, N), TIMED[1])))
    named, calls = [], []
    for ldb in LAYOUTS:
        B = row if ldb == 0 else Size.square(N, ldb).matrices()[1]
        B[:] = row
        for name, program in APART.items():
            call = call_with(program, A, B, ldb, C)
            call()
            if not matches(C, A, np.ascontiguousarray(np.broadcast_to(row, (N, N)))):
                raise ToolError(f"{name}, {ldb} floats apart: the product is wrong")
            named.append({"what": "program", "kernel": name, "N": N, "ldb": ldb})
            calls.append(call)
    return [*known(load), *(found | summary(spread) for found, spread in zip(named, in_rounds(calls, end), strict=True))]


def call_with(program: str, A: np.ndarray, B: np.ndarray, ldb: int, C: np.ndarray) -> Callable[[], Any]:
    """Return a call of a program whose rows of B begin `ldb` floats apart; with 0 all of them are the first row of B."""
    kernel = resolve_cpu(program)
    kinds = [ctypes.c_int] * 3 + [ctypes.c_float] + [ctypes.c_void_p, ctypes.c_int] * 2 + [ctypes.c_float, ctypes.c_void_p, ctypes.c_int]
    function = build_cpu(kernel).function(kernel.entry, *kinds, result=None)
    N = C.shape[1]
    return lambda: function(*C.shape, A.shape[1], 1.0, A.ctypes.data, N, B.ctypes.data, ldb, 0.0, C.ctypes.data, N)


def known(load: float) -> list[dict[str, Any]]:
    """Return the rows that say with what something is measured."""
    found = [{"what": "cache", "level": level, "kib": kib, "ways": ways} for level, kib, ways in caches()]
    return [conditions(load) | {"clock": CLOCK.__name__}, *found]


def rows_of(seconds: float) -> list[dict[str, Any]]:
    """Measure everything; return the rows of the recording."""
    load, programs = os.getloadavg()[0], plan()
    rows = known(load)
    for (name, size), spread in zip(programs, rounds_of(programs, seconds), strict=True):
        rows.append({"what": "program", "kernel": name, "M": size.M, "N": size.N, "K": size.K, "ldb": size.ldb} | summary(spread))
    return rows


@click.command()
@out_option("cpu")
@click.option("--seconds", default=150.0, show_default=True)
@click.option("--apart", is_flag=True, help="Only a B of equal rows in several layouts.")
def command(out: Path, seconds: float, apart: bool) -> None:
    """Record, and print what was found."""
    rows, names = (apart_rows(seconds), {"gemm_ijk", "gemm_ikj"}) if apart else (rows_of(seconds), {name for name, _ in plan()})
    sources = {name: fingerprint_of(cpu_kernel(name)) for name in sorted(names)}
    name, how = ("cpu_apart", "record orders --apart") if apart else ("cpu_orders", "record orders")
    write_recording(out, name, rows, sources, how, cpu_name())
    print(*rows, sep="\n")
