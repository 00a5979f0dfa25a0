"""Record one CPU core's speed and its roofs.

Writes cpu_roof.json into the output folder; copy it into course_lib/data/. Everything takes turns, round after round, so that
all see the same clock and the same neighbours; a row holds the best, the median and the worst of its rounds. A time is the CPU time of the
one thread, which leaves out the turns that other programs had. A roof is the fastest sample of all.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import cpu_kernel, own_program
from course_lib.lessons.cpu.variants import LARGE, PADDED, SMALL, TIMED, TINY, six_loops
from course_lib.model.cache_lines import CacheShape
from course_lib.run import count_lines, cpu_peak, matches
from course_lib.run.cpu import build_cpu
from course_lib.toolchain import cpu_family, cpu_name, gemm_call
from course_lib.toolchain.host_compiler import host_compiler
from tools import ToolError
from tools.options import out_option
from tools.recordings import write_recording

NO_VECTORS = '#pragma GCC optimize ("no-tree-vectorize")\n'
LADDER = ("gemm_ijk", "gemm_ikj", "gemm_vectors", "gemm_packed")
SAMPLE = 0.02                            # seconds for which a quick program is repeated in a round; its fastest call counts
Row = dict[str, Any]
_LIBRARY = """
import sys, time, numpy as np
from threadpoolctl import threadpool_info
sizes = [[int(x) for x in pair.split("x")] for pair in sys.argv[1:]]
made = [[np.random.default_rng(i).random((N, ld), dtype=np.float32)[:, :N] for i in range(3)] for N, ld in sizes]
found = [np.matmul(A, B, out=C) for A, B, C in made]
own = next(p for p in threadpool_info() if p["user_api"] == "blas")
print(own["internal_api"], own.get("version") or "?", own.get("architecture") or "?", own["num_threads"], flush=True)
for line in sys.stdin:
    A, B, C = made[int(line)]
    best, end = 9e9, time.perf_counter() + 0.02
    while time.perf_counter() < end or best == 9e9:
        started = time.thread_time()
        np.matmul(A, B, out=C)
        best = min(best, time.thread_time() - started)
    print(best, flush=True)
"""


def facts() -> tuple[str | None, str | None, bool]:
    """Return this CPU's (family, model, whether it has vectors of 16 floats), as Linux tells; nothing elsewhere."""
    path, (family, model) = Path("/proc/cpuinfo"), cpu_family() or (None, None)
    return family, model, path.exists() and "avx512f" in path.read_text()


def caches() -> list[tuple[int, int, int]]:
    """Return (level, KiB, ways) of this core's caches for data, as Linux tells; nothing elsewhere."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size, ways = ((folder / name).read_text().strip() for name in ("level", "type", "size", "ways_of_associativity"))
        if kind != "Instruction":
            found.append((int(level), int(size.removesuffix("K")), int(ways)))
    return found


def conditions(load: float) -> Row:
    """Return the row that says with what it was measured; `load` is the machine's before."""
    compiler, (family, model, _) = host_compiler(), facts()
    options = [option for option in (*compiler.options, *compiler.as_written) if not option.startswith(("-W", "-shared", "-fPIC"))]
    return {"what": "conditions", "cpu": cpu_name(), "family": family, "model": model, "compiler": compiler.version,
            "options": " ".join(options), "threads": 1, "load": round(load, 1)}


def matrices(N: int, ld: int) -> list[np.ndarray]:
    """Return A, B and C with rows `ld` elements apart, which begin at a cache line."""
    def one(seed: int) -> np.ndarray:
        data = np.empty(N * ld + 16, np.float32)
        begin = -data.ctypes.data // 4 % 16
        data[:] = np.random.default_rng(seed).random(data.size, dtype=np.float32) - 0.5
        return data[begin:begin + N * ld].reshape(N, ld)[:, :N]
    return [one(seed) for seed in range(3)]


class Program:
    """One program of ours, on matrices of one size: a call to time."""

    def __init__(self, name: str, kernel: Any, N: int, ld: int, matrices: list[np.ndarray], **parameters: Any) -> None:
        self.row = {"what": "program", "kernel": name, "N": N, "ld": ld, "parameters": parameters}
        given = {} if name == "six_loops" else parameters
        values = kernel.check(**given)
        A, B, C = matrices
        self.call = gemm_call(build_cpu(kernel, "float32", **values), kernel.entry, A, B, C, 1.0, 0.0, values.get("threads"),
                              kernel.returns_status)
        self.call()
        if not matches(np.array(C), np.ascontiguousarray(A), np.ascontiguousarray(B)):
            raise ToolError(f"{self.row} is wrong.")

    def sample(self) -> float:
        """Return the seconds of the fastest call of a moment."""
        best, end = float("inf"), time.perf_counter() + SAMPLE
        while time.perf_counter() < end or best == float("inf"):
            started = time.thread_time()
            self.call()
            best = min(best, time.thread_time() - started)
        return best


class Library:
    """NumPy's library in a process of its own, told to compute as for one kind of CPU, or left to choose."""

    def __init__(self, kind: str, sizes: Sequence[tuple[int, int]]) -> None:
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | ({"OPENBLAS_CORETYPE": kind} if kind else {})
        self.process = subprocess.Popen([sys.executable, "-c", _LIBRARY, *(f"{N}x{ld}" for N, ld in sizes)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sizes, self.chosen = sizes, not kind
        self.name, self.version, self.kernels, self.threads = self.process.stdout.readline().split()

    def programs(self) -> list["LibraryProgram"]:
        """Return what is timed of it, one for each size."""
        return [LibraryProgram(self, number) for number in range(len(self.sizes))]


class LibraryProgram:
    """The library's product of one size."""

    def __init__(self, library: Library, number: int) -> None:
        (N, ld), self.library, self.number = library.sizes[number], library, number
        self.row = {"what": "program", "kernel": "blas", "N": N, "ld": ld,
                    "parameters": {"kernels": library.kernels, "chosen": library.chosen}}

    def sample(self) -> float:
        """Return the seconds of the fastest call of a moment."""
        self.library.process.stdin.write(f"{self.number}\n")
        self.library.process.stdin.flush()
        return float(self.library.process.stdout.readline())


def programs(wide: bool) -> tuple[list[Any], Library]:
    """Return everything to time; `wide`: the CPU has vectors of 16 floats."""
    made = {size: matrices(*size) for size in ((SMALL, SMALL), (LARGE, LARGE), (LARGE, PADDED))}
    found = []
    for (N, ld), given in made.items():
        def add(name: str, kernel: Any = None, N: int = N, ld: int = ld, given: list[np.ndarray] = given, **parameters: Any) -> None:
            found.append(Program(name, kernel or cpu_kernel(name), N, ld, given, **parameters))
        for name in LADDER:
            add(name)
        if wide:
            add("gemm_vectors", VB=64)
            add("gemm_packed", VB=64, MR=8, MC=144)
        for parameters in TIMED if N == LARGE else TIMED[:1]:
            add("six_loops", own_program(six_loops(**parameters)), **parameters)
    libraries = [Library(kind, list(made)) for kind in ("", "Haswell", *(["SkylakeX"] if wide else []))]
    chosen = libraries[0].kernels
    different = [library for library in libraries if library.chosen or library.kernels != chosen]
    return found + [program for library in different for program in library.programs()], libraries[0]


def tiny() -> dict[tuple[str, bool], Program]:
    """Return two orders on matrices that fit into the first cache, as ever and by a compiler that makes no vectors: label -> Program."""
    given = matrices(TINY, TINY)
    found = {}
    for name, wide in product(("gemm_ijk", "gemm_ikj"), (True, False)):
        text = cpu_kernel(name).source
        text = text if wide else text.replace("#include", f"{NO_VECTORS}#include", 1)
        found[name, wide] = Program(name, own_program(text), TINY, TINY, given)
    return found


def record(seconds: float) -> list[Row]:
    """Measure everything in turn for so many seconds; return the rows of the recording."""
    wide = facts()[2]
    timed, library = programs(wide)
    small = tiny()
    computed: dict[int, float] = {}
    read: dict[int, float] = {}
    everything = [*timed, *small.values()]
    times, load, end, rounds = [[] for _ in everything], os.getloadavg()[0], time.perf_counter() + seconds, 0
    took = 0.0
    while not rounds or time.perf_counter() + took < end:
        started, peak = time.perf_counter(), cpu_peak(budget_s=0.15)
        for found, best in ((peak.by_vector, computed), (peak.bandwidth, read)):
            for key, rate in found.items():
                best[key] = max(best.get(key, 0), rate)
        for program, samples in zip(everything, times, strict=True):
            samples.append(program.sample())
        rounds, took = rounds + 1, time.perf_counter() - started
        print(f"round {rounds}: {peak.gflops:.0f} GFLOP/s at most, {took:.0f} s", flush=True)
    rows = [conditions(load) | {"rounds": rounds, "numpy": np.__version__, "library": f"{library.name} {library.version}",
                                "kernels": library.kernels}]
    rows += [{"what": "cache", "level": level, "kib": kib, "ways": ways} for level, kib, ways in caches()]
    rows += [{"what": "peak", "vector": vector, "gflops": round(rate, 2)} for vector, rate in computed.items() if wide or vector < 64]
    rows += [{"what": "read", "kib": size, "gb_s": round(rate, 2)} for size, rate in read.items()]
    for (name, vectors), samples in zip(small, times[len(timed):], strict=True):
        rows.append({"what": "vectors", "kernel": name, "N": TINY, "vectors": vectors} | spread(samples))
    return rows + [program.row | spread(samples) | lines(program.row) for program, samples in zip(timed, times, strict=False)]


def spread(samples: Sequence[float]) -> dict[str, float]:
    """Return the best, the median and the worst of the rounds."""
    best, median, worst = min(samples), statistics.median(samples), max(samples)
    return {f"{name}_s": float(f"{value:.4g}") for name, value in (("best", best), ("median", median), ("worst", worst))}


def lines(row: Row) -> dict[str, int]:
    """Return the cache lines of a small program that can be counted, into a cache like this CPU's first."""
    first = next(((kib, ways) for level, kib, ways in caches() if level == 1), None)
    if row["N"] != SMALL or row["kernel"] not in ("gemm_ijk", "gemm_ikj", "six_loops") or not first:
        return {}
    text = six_loops(**row["parameters"]) if row["kernel"] == "six_loops" else row["kernel"]
    A, B, _ = matrices(SMALL, SMALL)
    return {"lines": count_lines(text, A, B, cache=CacheShape(1024 * first[0], ways=first[1])).total}


@click.command()
@out_option("cpu")
@click.option("--seconds", default=140.0, show_default=True)
def command(out: Path, seconds: float) -> None:
    """Record, and print what was found."""
    rows = record(seconds)
    sources = {name: fingerprint_of(cpu_kernel(name)) for name in (*LADDER, "blas")}
    write_recording(out, "cpu_roof", rows, sources, "record cpu", cpu_name())
    print(*rows, sep="\n")
