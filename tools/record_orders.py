"""Record what orders of the triple loop take on one core of this machine, one change of the matrices at a time.

    python tools/record_orders.py [--out FOLDER] [--seconds 150]

Writes cpu_orders.json into the output folder (build/cpu); copy it into course_lib/data/, and refresh lesson 01, which prints it. All
programs take turns, round after round, until the seconds are over. A round gives the fastest sample of a moment, in processor time of the
thread; the file holds the best, the middle and the worst round of each program, and with what it was measured.
"""

import argparse
import datetime
import os
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from record_cpu import caches  # noqa: E402

from course_lib.bench.fingerprint import fingerprint_of  # noqa: E402
from course_lib.data.readings import Readings, dumps  # noqa: E402
from course_lib.kernels import cpu_kernel  # noqa: E402
from course_lib.kernels.cpu import ORDERS  # noqa: E402
from course_lib.lessons.triple_loop.turns import CLOCK, SIZES, SMALL, TIMED, RoundTimes, prepared  # noqa: E402
from course_lib.run.stopwatch import fastest, launches_for  # noqa: E402
from course_lib.toolchain import cpu_name  # noqa: E402
from course_lib.toolchain.host_compiler import host_compiler  # noqa: E402

BUDGET_S = 0.2                            # of a program in a round; one sample where that takes longer


def plan():
    """Return (program, size) of everything to time, each once."""
    pairs = [(f"gemm_{order}", size) for size in (*SIZES, *TIMED) for order in ("ijk", "ikj")]
    return pairs + [(f"gemm_{order}", size) for size in SMALL for order in ORDERS]


def rounds_of(programs, seconds):
    """Time the programs in turns, one round at least, until so many seconds have gone since now; return their `RoundTimes`s."""
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


def conditions(load):
    """Return the row that says with what it was measured; `load` is the machine's before."""
    path, compiler = Path("/proc/cpuinfo"), host_compiler()
    text = path.read_text() if path.exists() else ""
    family, model = (re.search(rf"^{name}\s*:\s*(\d+)", text, re.MULTILINE) for name in ("cpu family", "model"))
    options = [option for option in (*compiler.options, *compiler.as_written) if not option.startswith(("-W", "-shared", "-fPIC"))]
    return {"what": "conditions", "cpu": cpu_name(), "family": family and family[1], "model": model and model[1],
            "compiler": compiler.version, "options": " ".join(options), "clock": CLOCK.__name__, "threads": 1, "load": round(load, 1)}


def rows_of(seconds):
    """Measure everything; return the rows of the recording."""
    load, programs = os.getloadavg()[0], plan()
    rows = [conditions(load), *({"what": "cache", "level": level, "kib": kib, "ways": ways} for level, kib, ways in caches())]
    for (name, size), spread in zip(programs, rounds_of(programs, seconds), strict=True):
        times = {"best_s": spread.best, "median_s": spread.median, "worst_s": spread.worst}
        rows.append({"what": "program", "kernel": name, "M": size.M, "N": size.N, "K": size.K, "ldb": size.ldb,
                     "rounds": len(spread.rounds)} | {key: float(f"{value:.4g}") for key, value in times.items()})
    return rows


def main():
    """Record, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=ROOT / "build" / "cpu")
    parser.add_argument("--seconds", type=float, default=150)
    options = parser.parse_args()
    rows = rows_of(options.seconds)
    sources = {name: fingerprint_of(cpu_kernel(name)) for name in sorted({name for name, _ in plan()})}
    Path(options.out).mkdir(parents=True, exist_ok=True)
    head = cpu_name(), "", datetime.date.today().isoformat(), "tools/record_orders.py"
    Path(options.out, "cpu_orders.json").write_text(dumps(Readings(*head, tuple(rows), sources)), encoding="utf-8")
    for row in rows:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
