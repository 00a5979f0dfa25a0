"""Programs on this machine's CPU: a table of them, and controls on how many threads compute."""

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any

from matplotlib.axes import Axes

from course_lib.data import Recording
from course_lib.errors import CourseError
from course_lib.kernels import cpu_kernel
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import bars, lines, style
from course_lib.run import CpuResult, count_lines, run_cpu
from course_lib.toolchain import cpu_count
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Control, Explore

THREADED = ("gemm_pthreads", "gemm_openmp", "gemm_packed", "blas")
Measure = Callable[[str, int, int], CpuResult]       # program, threads, N
Pair = tuple[CpuResult, CpuResult]                   # of a program with one thread, and with several
_measuring = threading.Lock()       # two measurements at once would spoil each other


def measure_programs(names: Iterable[str], N: int, budget_s: float = 0.2, **parameters: int) -> list[CpuResult]:
    """Run programs on N × N matrices and measure them; one that cannot be built here is left out, and a line says why.

    Parameters
    ----------
    budget_s
        About how long for each.
    **parameters
        Passed to those that take them, such as `threads`.
    """
    A, B, _ = inputs(N, N, N)
    results: list[CpuResult] = []
    missing: dict[str, list[str]] = {}
    for name in names:
        known = {p.name for p in cpu_kernel(name).parameters}
        taken: dict[str, Any] = {k: v for k, v in parameters.items() if k in known}
        try:
            with _measuring:
                results.append(run_cpu(name, A, B, budget_s=budget_s, **taken))
        except CourseError as error:
            missing.setdefault(str(error), []).append(name)
    for reason, left_out in missing.items():
        print(f"without {', '.join(left_out)}: {reason}")
    return results


def intensity(name: str, N: int, **parameters: int) -> float:
    """Return a program's operations per byte of the cache lines that it fetches into 32 KiB of 8 ways, as first caches are.

    >>> 0.4 < intensity("gemm_ikj", 96) < 0.6
    True
    """
    A, B, _ = inputs(N, N, N)
    options: dict[str, Any] = {"cache": CacheShape(32 * 1024, ways=8), **parameters}
    counted = count_lines(name, A, B, **options)
    return 2 / (counted.per_multiply_add * counted.cache.line)


def speed(name: str, threads: int, N: int, budget_s: float = 0.1) -> CpuResult:
    """Measure a program with so many threads, nothing else being measured at the same time."""
    A, B, _ = inputs(N, N, N)
    with _measuring:
        return run_cpu(name, A, B, threads=threads, budget_s=budget_s)


def compare_threads(measure: Measure = speed) -> Callable[[str, int, int], Pair]:
    """Return a function (name, threads, N) -> (result with one thread, result with so many); one thread is measured once."""
    alone = functools.lru_cache(maxsize=32)(lambda name, N: measure(name, 1, N))

    def compare(name: str, threads: int, N: int) -> Pair:
        one = alone(name, N)
        return one, one if threads == 1 else measure(name, threads, N)

    return compare


def thread_facts(pair: Pair) -> dict[str, str]:
    """Return what the table shows of a program with one thread and with several."""
    one, many = pair
    assert one.time is not None                          # both were measured
    assert many.time is not None
    ratio = one.time.median_s / many.time.median_s
    return {"threads": str(many.threads), "CPUs of this machine": str(cpu_count()),
            "time": f"{1e3 * many.time.median_s:.3g} ms",
            "middle half of the times": f"{1e3 * many.time.low_s:.3g} to {1e3 * many.time.high_s:.3g} ms",
            "GFLOP/s": f"{many.gflops:.3g}", "GFLOP/s with 1 thread": f"{one.gflops:.3g}",
            "times as fast as 1 thread": f"{ratio:.2f}", "efficiency": f"{100 * ratio / (many.threads or 1):.0f} %"}


def thread_bars(pair: Pair) -> tuple[Axes, str]:
    """Draw the speed with one thread, with several, and with that many times the first; return (Axes, alternative text)."""
    one, many = pair
    count = many.threads or 1
    several = f"{count} thread{'s' * (count != 1)}"
    values = {"1 thread": one.gflops, several: many.gflops, f"ideal of {several}": count * one.gflops}
    ax = bars(values, style.axes(width=6.2, height=3.2), title=f"{many.kernel.name}, N = {many.N}", unit=f"GFLOP/s, {many.label}")
    said = ", ".join(f"{label} {value:.3g}" for label, value in values.items())
    return ax, f"GFLOP/s of {many.kernel.name} at N = {many.N}, {many.label}: {said}."


def thread_sliders(name: str = "gemm_pthreads", threads: int = 1, N: int = 256, *, sizes: Iterable[int] = (128, 256, 384, 512),
                   measure: Measure = speed) -> Explore:
    """Put controls on the program, the number of threads and N; each move is measured."""
    controls = (Control("program", "what computes", THREADED, name),
                Control("threads", "how many compute at once", (1, 2, 4, 8, 16), threads),
                Control("N", "rows and columns of A, B and C", tuple(sizes), N))
    return Explore(controls, compare_threads(measure), facts=thread_facts, picture=thread_bars, doing="measuring",
                   done="measured on this CPU", ahead=False)


def recorded_gains(recording: Recording, names: Iterable[str] = THREADED, time: str = "median_s") -> dict[str, dict[int, float]]:
    """Return name -> {threads: how many times as fast as one thread}, of recorded times.

    Parameters
    ----------
    time
        "low_s" or "high_s" for the ends of the middle half of the times; one thread always takes its median.

    >>> from course_lib.data import load
    >>> gain = [recorded_gains(load("threads"), time=time)["blas"][8] for time in ("high_s", "median_s", "low_s")]
    >>> gain == sorted(gain)
    True
    """
    found = {name: {r.parameters["threads"]: r for r in recording.find(name)} for name in names}
    return {name: {count: by_count[1].seconds / getattr(by_count[count], time) for count in sorted(by_count)}
            for name, by_count in found.items()}


def gains_picture(recording: Recording, names: Iterable[str] = THREADED) -> tuple[Axes, str]:
    """Draw recorded gains and their middle halves, beside as many times as there are threads; return (Axes, alternative text)."""
    gains, least, most = (recorded_gains(recording, names, time) for time in ("median_s", "high_s", "low_s"))
    counts, label = list(next(iter(gains.values()))), f"N = {recording.records[0].N}, {recording.label}"
    ax = lines(counts, {name: [gain[count] for count in counts] for name, gain in gains.items()}, xlabel="threads", log=True,
               predicted={"as many times as threads": counts}, ylabel="times as fast as 1 thread", title=label)
    for i, (name, line) in enumerate(zip(gains, ax.lines[1:], strict=True)):
        beside = [count * 1.03 ** (i - 1.5) for count in counts]       # side by side, so that none hides another
        line.set_xdata(beside)
        ax.vlines(beside, list(least[name].values()), list(most[name].values()), color=line.get_color(), linewidth=1.5)
    said = "; ".join(f"{name} " + ", ".join(f"{gain[count]:.1f} with {count}" for count in counts[1:]) for name, gain in gains.items())
    return ax, f"Times as fast as one thread, {label}: {said}."
