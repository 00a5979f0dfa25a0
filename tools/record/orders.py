"""Record what orders of the triple loop take.

They are timed on one core of this machine, one change of the matrices at a time.

Writes cpu_orders.json into the output folder; copy it into course_lib/data/, and refresh lesson 01, which prints it. All
programs take turns, round after round, until the seconds are over. A round gives the fastest sample of a moment, in processor time of the
thread; the file holds the best, the middle and the worst round of each program, and with what it was measured.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import cpu_kernel
from course_lib.kernels.cpu import ORDERS
from course_lib.lessons.triple_loop.turns import CLOCK, SIZES, SMALL, TIMED, RoundTimes, Size, prepared
from course_lib.run.stopwatch import fastest, launches_for
from course_lib.toolchain import cpu_name
from tools.options import out_option
from tools.record.cpu import caches, conditions
from tools.recordings import write_recording

BUDGET_S = 0.2                            # of a program in a round; one sample where that takes longer


def plan() -> list[tuple[str, Size]]:
    """Return (program, size) of everything to time, each once."""
    pairs = [(f"gemm_{order}", size) for size in (*SIZES, *TIMED) for order in ("ijk", "ikj")]
    return pairs + [(f"gemm_{order}", size) for size in SMALL for order in ORDERS]


def rounds_of(programs: Sequence[tuple[str, Size]], seconds: float) -> list[RoundTimes]:
    """Time the programs in turns, one round at least, until so many seconds have gone since now; return the `RoundTimes` of each."""
    end = time.perf_counter() + seconds
    matrices = {size: size.matrices() for _, size in programs}
    calls = [prepared(name, size, matrices[size]) for name, size in programs]
    launches = [launches_for(call, CLOCK) for call in calls]
    times, took = [[] for _ in calls], 0.0
    while not times[0] or time.perf_counter() + took < end:
        started = time.perf_counter()
        for call, many, found in zip(calls, launches, times, strict=True):
            found.append(fastest(call, budget_s=BUDGET_S, launches=many, clock=CLOCK))
        took = time.perf_counter() - started
        print(f"round {len(times[0])}: {took:.0f} s", flush=True)
    return [RoundTimes(tuple(found)) for found in times]


def rows_of(seconds: float) -> list[dict[str, Any]]:
    """Measure everything; return the rows of the recording."""
    load, programs = os.getloadavg()[0], plan()
    rows = [conditions(load) | {"clock": CLOCK.__name__},
            *({"what": "cache", "level": level, "kib": kib, "ways": ways} for level, kib, ways in caches())]
    for (name, size), spread in zip(programs, rounds_of(programs, seconds), strict=True):
        times = {"best_s": spread.best, "median_s": spread.median, "worst_s": spread.worst}
        rows.append({"what": "program", "kernel": name, "M": size.M, "N": size.N, "K": size.K, "ldb": size.ldb,
                     "rounds": len(spread.rounds)} | {key: float(f"{value:.4g}") for key, value in times.items()})
    return rows


@click.command()
@out_option("cpu")
@click.option("--seconds", default=150.0, show_default=True)
def command(out: Path, seconds: float) -> None:
    """Record, and print what was found."""
    rows = rows_of(seconds)
    sources = {name: fingerprint_of(cpu_kernel(name)) for name in sorted({name for name, _ in plan()})}
    write_recording(out, "cpu_orders", rows, sources, "record orders", cpu_name())
    print(*rows, sep="\n")
