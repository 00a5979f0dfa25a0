"""Record how fast this machine's CPU multiplies, and the roofs that bound it, on one core.

    python tools/record_cpu.py [--out FOLDER] [--rounds 8]

Writes cpu_roof.json into the output folder (build/cpu); copy it into course_lib/data/. Roofs and programs take turns, round after round, so
that both see the same clock and the same neighbours; it writes down the fastest sample of each, and for programs the median of the rounds.
"""

import argparse
import datetime
import statistics
import sys
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from course_lib.bench.fingerprint import fingerprint_of  # noqa: E402
from course_lib.data.readings import Readings, dumps  # noqa: E402
from course_lib.kernels import cpu_kernel  # noqa: E402
from course_lib.model.cache_lines import CacheShape  # noqa: E402
from course_lib.run import count_lines, cpu_peak, matches, run_cpu  # noqa: E402
from course_lib.toolchain import blas_threads, cpu_name  # noqa: E402
from course_lib.widgets.compute import inputs  # noqa: E402

TINY, SMALL, LARGE = 48, 256, 2048
NO_VECTORS = '#pragma GCC optimize ("no-tree-vectorize")\n'
LADDER = ("gemm_ijk", "gemm_ikj", "gemm_blocked", "gemm_vectors", "gemm_packed", "blas")
SQUARES = (16, 32, 64, 128, 256, 512)
WIDTHS = (16, 64, 256, 2048)             # of a block of 16 rows of B, all used for 256 rows of A
COUNTED = ("gemm_ijk", "gemm_ikj", "gemm_blocked")
SLOW = ("gemm_ijk", LARGE)               # measured in the first round only


def plan():
    """Yield (program, N, parameters) of everything to time."""
    for N in (SMALL, LARGE):
        for name in LADDER:
            yield name, N, {"threads": 1} if cpu_kernel(name).threaded else {}
    for b in SQUARES:
        yield "gemm_blocked", LARGE, {"BI": b, "BJ": b, "BK": b}
    for width in WIDTHS:
        yield "gemm_blocked", LARGE, {"BI": 256, "BJ": width, "BK": 16}


def measure(name, N, parameters):
    """Time one program; return (fastest quarter, median) in seconds."""
    A, B, _ = inputs(N, N, N)
    found = run_cpu(name, A, B, budget_s=0.3, **parameters)
    if N == SMALL and not matches(found.C, A, B):
        raise SystemExit(f"{name} is wrong")
    return found.time.low_s, found.time.median_s


def rows_of(rounds):
    """Measure everything, round after round; return the rows of the recording."""
    times, computed, read = {}, {}, {}
    for turn in range(rounds):
        started, peak = time.perf_counter(), cpu_peak(budget_s=0.3)
        for found, best in ((peak.by_vector, computed), (peak.bandwidth, read)):
            for key, rate in found.items():
                best[key] = max(best.get(key, 0), rate)
        for name, N, parameters in plan():
            if turn == 0 or (name, N) != SLOW:
                times.setdefault((name, N, tuple(parameters.items())), []).append(measure(name, N, parameters))
        print(f"round {turn + 1}: {peak.gflops:.0f} GFLOP/s at most, {time.perf_counter() - started:.0f} s", flush=True)
    rows = [{"what": "cache", "level": level, "kib": kib, "ways": ways} for level, kib, ways in caches()]
    with blas_threads(1) as library:
        rows.append({"what": "library", "text": str(library)})
    rows += [{"what": "peak", "vector": vector, "gflops": round(rate, 2)} for vector, rate in computed.items()]
    rows += [{"what": "read", "kib": size, "gb_s": round(rate, 2)} for size, rate in read.items()]
    return rows + vectors(rounds) + [program(*key, found) for key, found in times.items()]


def vectors(rounds):
    """Time two orders on matrices that fit into the first cache, as ever and with a compiler that makes no vectors; return rows."""
    A, B, _ = inputs(TINY, TINY, TINY)
    best = {}
    for _ in range(rounds):
        for name, wide in product(("gemm_ijk", "gemm_ikj"), (True, False)):
            text = cpu_kernel(name).source
            text = text if wide else text.replace("#include", f"{NO_VECTORS}#include", 1)
            best[name, wide] = min(best.get((name, wide), 1), run_cpu(text, A, B, budget_s=0.15).time.low_s)
    return [{"what": "vectors", "kernel": name, "N": TINY, "vectors": wide, "best_s": float(f"{seconds:.4g}")}
            for (name, wide), seconds in best.items()]


def program(name, N, parameters, found):
    """Return the row of one program: its times, and for small matrices its lines into a cache like this CPU's first."""
    row = {"what": "program", "kernel": name, "N": N, "parameters": dict(parameters), "rounds": len(found),
           "best_s": float(f"{min(low for low, _ in found):.4g}"), "median_s": float(f"{statistics.median(m for _, m in found):.4g}")}
    first = next(((kib, ways) for level, kib, ways in caches() if level == 1), None)
    if N == SMALL and name in COUNTED and first:
        A, B, _ = inputs(N, N, N)
        row["lines"] = count_lines(name, A, B, cache=CacheShape(1024 * first[0], ways=first[1])).total
    return row


def caches():
    """Return (level, KiB, ways) of this core's caches for data, as Linux tells; nothing elsewhere."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size, ways = ((folder / name).read_text().strip() for name in ("level", "type", "size", "ways_of_associativity"))
        if kind != "Instruction":
            found.append((int(level), int(size.removesuffix("K")), int(ways)))
    return found


def main():
    """Record, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=ROOT / "build" / "cpu")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    rows = rows_of(options.rounds)
    sources = {name: fingerprint_of(cpu_kernel(name)) for name in LADDER}
    Path(options.out).mkdir(parents=True, exist_ok=True)
    head = cpu_name(), "", datetime.date.today().isoformat(), "tools/record_cpu.py"
    Path(options.out, "cpu_roof.json").write_text(dumps(Readings(*head, tuple(rows), sources)))
    for row in rows:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
