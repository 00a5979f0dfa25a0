"""Programs on this machine's CPU: controls on how many threads compute."""

import functools
import threading
from collections.abc import Callable, Iterable

from matplotlib.axes import Axes

from course_lib.plots import bars, style
from course_lib.run import CpuResult, run_cpu
from course_lib.toolchain import cpu_count, no_compiler
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Control, Explore

THREADED = ("gemm_pthreads", "gemm_openmp", "gemm_packed", "blas")
Measure = Callable[[str, int, int], CpuResult]       # program, threads, N
Pair = tuple[CpuResult, CpuResult]                   # of a program with one thread, and with several
_measuring = threading.Lock()       # two measurements at once would spoil each other


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
                   measure: Measure = speed) -> Explore | None:
    """Put controls on the program, the number of threads and N, each move measured; print why when there is no C compiler."""
    if measure is speed and (missing := no_compiler()):
        print(f"Skipped, because this measures C programs: {missing}.")
        return None
    controls = (Control("program", "what computes", THREADED, name),
                Control("threads", "how many compute at once", (1, 2, 4, 8, 16), threads),
                Control("N", "rows and columns of A, B and C", tuple(sizes), N))
    return Explore(controls, compare_threads(measure), facts=thread_facts, picture=thread_bars, doing="measuring",
                   done="measured on this CPU", ahead=False)
