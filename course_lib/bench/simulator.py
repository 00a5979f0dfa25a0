"""How fast the simulator is: kernels on one worker and on all, compilation, racecheck, and numba's simulator beside it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import kernels, simt, toolchain
from course_lib.bench.machine import load_average, this_machine
from course_lib.bench.records import Measurement, Result
from course_lib.bench.timing import Spread, repeat
from course_lib.errors import CourseError
from course_lib.simt.host import build
from course_lib.simt.host.workers import available_cores

TILE_16 = ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16})
TILE_32 = ("sgemm_tiled", {"BM": 32, "BN": 32, "BK": 32})
REGISTERS = ("sgemm_2d_tile", {"BM": 128, "BN": 128, "BK": 8, "TM": 8, "TN": 8})
RUNGS = tuple((name, kernels.get(name).check()) for name in ("sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered"))
SPEED = (("sgemm_swapped", {"bx": 16, "by": 16}), ("sgemm_naive", {"bx": 16, "by": 16}), TILE_16, TILE_32,
         ("sgemm_1d_tile", {"BM": 64, "BN": 64, "BK": 8, "TM": 8}), REGISTERS, *RUNGS)
COMPILED = (("sgemm_naive", {"bx": 16, "by": 16}), TILE_16, TILE_32, REGISTERS, *RUNGS)
AHEAD = (("sgemm_stream_k", {"BM": 256, "BN": 128, "BK": 16}), ("sgemm_stream_k", {"BM": 128, "BN": 128, "BK": 8}),
         ("sgemm_stream_k", {"BM": 64, "BN": 64, "BK": 16}), ("dgemm_stream_k", {"BM": 128, "BN": 128, "BK": 16}),
         ("dgemm_stream_k", {"BM": 64, "BN": 64, "BK": 16}))           # they copy ahead
RACES = (TILE_16, TILE_32, REGISTERS)
NUMBA_TILE = Path(__file__).with_name("numba_tile.py")


@dataclass(frozen=True)
class Plan:
    """What to measure: N of the speeds and of racecheck, N on numba's simulator, and how often each."""

    N: int = 512
    N_races: int = 512
    N_numba: int = 32
    repeats: int = 9
    repeats_compile: int = 5

    @classmethod
    def quick(cls) -> "Plan":
        """Return a plan of a few seconds, whose figures are too rough to quote."""
        return cls(N=128, N_races=128, N_numba=16, repeats=3, repeats_compile=1)


class BenchmarkLaunch:
    """A kernel of the catalog with square matrices, ready to run."""

    def __init__(self, name: str, parameters: dict[str, int], N: int) -> None:
        self.kernel, self.parameters, self.N = kernels.get(name), parameters, N
        rng = np.random.default_rng(N)
        self.dtype = np.dtype(self.kernel.dtype)
        self.A, self.B = (rng.standard_normal((N, N)).astype(self.dtype) for _ in range(2))
        self.C = np.full((N, N), np.nan, self.dtype)
        self.workspace = [np.zeros(count, kind) for kind, count in self.kernel.workspace(**parameters)]

    def defines(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Return the kernel's macros and some more."""
        return {**self.kernel.defines(**self.parameters), **more}

    def __call__(self, more: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **how: Any) -> simt.Report:
        n, one, zero = np.int32(self.N), self.dtype.type(1), self.dtype.type(0)
        args = [n, n, n, one, self.A, n, self.B, n, zero, self.C, n, *self.workspace]
        kernel, p = self.kernel, self.parameters
        return simt.launch(kernel.path, kernel.entry, kernel.grid(self.N, self.N, **p), kernel.block(**p), args,
                           defines=self.defines(dict(more)), dynamic_shared=kernel.dynamic_bytes(**p), **how)

    def check(self) -> None:
        """Raise a CourseError unless C is A B within the rounding of N additions."""
        exact = self.A.astype(np.float64) @ self.B
        bound = self.N * np.finfo(self.dtype).eps * (np.abs(self.A).astype(np.float64) @ np.abs(self.B))
        if not (np.abs(self.C - exact) <= bound).all():
            raise CourseError(f"{self.kernel.name} at N = {self.N} gave a wrong answer, so its speed says nothing")


def measure(plan: Plan, *, numba_python: str | None = None, say: Callable[[str], object] = lambda text: None) -> Result:
    """Measure everything in a plan.

    Parameters
    ----------
    numba_python
        A Python that has numba; default this one.
    say
        Gets a line of text before each part.
    """
    before, found = load_average(), []
    for name, parameters in (*SPEED, *AHEAD):
        say(f"{name}, N = {plan.N}")
        found += speed(name, parameters, plan)
    for name, parameters in COMPILED:
        say(f"compiling {name}")
        found += compilation(name, parameters, plan.repeats_compile)
    for name, parameters in RACES:
        say(f"racecheck of {name}, N = {plan.N_races}")
        found += racecheck(name, parameters, plan)
    say("numba's CUDA simulator")
    found += numba(plan, numba_python or sys.executable)
    conditions = {"load_before": before, "repeats": plan.repeats, "repeats_compile": plan.repeats_compile}
    return Result("simt", date.today().isoformat(), this_machine(), conditions, tuple(found))


def speed(name: str, parameters: dict[str, int], plan: Plan) -> list[Measurement]:
    """Time launches on one worker, by CPU and by wall clock, and on all workers by wall clock."""
    launch, cores = BenchmarkLaunch(name, parameters, plan.N), available_cores()
    cpu = repeat({1: partial(launch, workers=1)}, plan.repeats, clock=time.process_time)
    wall = repeat({n: partial(launch, workers=n) for n in sorted({1, cores})}, plan.repeats)
    launch.check()
    work = launch.kernel.flops(plan.N, plan.N, plan.N)
    rows = [("cpu", n, s) for n, s in cpu.items()] + [("wall", n, s) for n, s in wall.items()]
    return [Measurement("run", name, parameters, plan.N, spread, clock, work, {"workers": n}) for clock, n, spread in rows]


def racecheck(name: str, parameters: dict[str, int], plan: Plan) -> list[Measurement]:
    """Time launches on one worker without and with the search for races."""
    launch = BenchmarkLaunch(name, parameters, plan.N_races)
    found = repeat({races: partial(launch, workers=1, racecheck=races) for races in (False, True)},
                   max(3, plan.repeats // 2), clock=time.process_time)
    launch.check()
    work = launch.kernel.flops(plan.N_races, plan.N_races, plan.N_races)
    return [Measurement("races", name, parameters, plan.N_races, spread, "cpu", work, {"racecheck": races})
            for races, spread in found.items()]


@contextmanager
def empty_cache() -> Iterator[None]:
    """Keep compiled objects in an empty folder meanwhile."""
    before = os.environ.get("COURSE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COURSE_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["COURSE_CACHE"]
            else:
                os.environ["COURSE_CACHE"] = before


def compilation(name: str, parameters: dict[str, int], repeats: int) -> list[Measurement]:
    """Time NVRTC, the first launch without it, both, and a first launch that finds everything on the disk.

    The cache is empty but for what the whole process needs, the problem is one element, and a macro that the kernel does not
    use makes every repeat a new request.
    """
    launch, now = BenchmarkLaunch(name, parameters, 1), time.process_time
    samples: dict[str, list[float]] = {"nvrtc": [], "translate": [], "compile": [], "load": []}
    kernel = launch.kernel
    launch(workers=1)                          # loads what a process loads once
    for _ in range(repeats):
        new = {"REPEAT": time.perf_counter_ns()}
        with empty_cache():
            forget()
            start = now()
            toolchain.compile_cuda(kernel.source, name=kernel.path.name, defines={n: str(v) for n, v in launch.defines(new).items()})
            middle = now()
            launch(workers=1, more=new)
            end = now()
            forget()
            again = now()
            launch(workers=1, more=new)
            loaded = now()
        for what, seconds in zip(samples, (middle - start, end - middle, end - start, loaded - again)):
            samples[what].append(seconds)
    return [Measurement(what, kernel.name, parameters, 0, Spread.of(found), "cpu") for what, found in samples.items()]


def forget() -> None:
    """Let the simulator forget the kernels that this process has compiled; the disk keeps them."""
    build._kernels.clear()


def numba(plan: Plan, python: str) -> list[Measurement]:
    """Time a 16 × 16 tile on numba's CUDA simulator; return no measurement when that Python has no numba."""
    try:
        done = subprocess.run([python, NUMBA_TILE, str(plan.N_numba), "3"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CourseError(f"{python} cannot be run: {error.strerror}", python=python) from None
    if done.returncode != 0:
        if "No module named 'numba'" in done.stderr:
            return []
        raise CourseError(f"numba's simulator failed under {python}:\n{done.stderr[-500:]}", python=python)
    told = json.loads(done.stdout)
    return [Measurement("numba", TILE_16[0], TILE_16[1], plan.N_numba, Spread.of(told["seconds"]), "cpu",
                        2 * plan.N_numba**3, {"version": told["version"]})]
