"""Programs on this machine's CPU: a table of them, and controls on how many threads compute."""

import functools
import threading

from course_lib.errors import CourseError
from course_lib.kernels import cpu_kernel
from course_lib.plots import bars, lines, style
from course_lib.run import count_lines, run_cpu
from course_lib.toolchain import cpu_count
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Control, Explore

THREADED = ("gemm_pthreads", "gemm_openmp", "gemm_packed", "blas")
_measuring = threading.Lock()       # two measurements at once would spoil each other


def measure_programs(names, N, budget_s=0.2, **parameters):
    """Run programs on N × N matrices and measure them; one that cannot be built here is left out, and a line says why.

    Parameters
    ----------
    names : sequence of str
    N : int
    budget_s : float
        About how long for each.
    **parameters : int
        Passed to those that take them, such as `threads`.

    Returns
    -------
    list of CpuResult
    """
    A, B, _ = inputs(N, N, N)
    results, missing = [], {}
    for name in names:
        known = {p.name for p in cpu_kernel(name).parameters}
        try:
            with _measuring:
                results.append(run_cpu(name, A, B, budget_s=budget_s, **{k: v for k, v in parameters.items() if k in known}))
        except CourseError as error:
            missing.setdefault(str(error), []).append(name)
    for reason, left_out in missing.items():
        print(f"without {', '.join(left_out)}: {reason}")
    return results


def intensity(name, N, **parameters):
    """Return a program's operations per byte of the cache lines that it fetches into 32 KiB.

    >>> 0.4 < intensity("gemm_ikj", 96) < 0.6
    True
    """
    A, B, _ = inputs(N, N, N)
    counted = count_lines(name, A, B, **parameters)
    return 2 / (counted.per_multiply_add * counted.cache.line)


def speed(name, threads, N, budget_s=0.1):
    """Measure a program with so many threads, nothing else being measured at the same time; return a CpuResult."""
    A, B, _ = inputs(N, N, N)
    with _measuring:
        return run_cpu(name, A, B, threads=threads, budget_s=budget_s)


def compare_threads(measure=speed):
    """Return a function (name, threads, N) -> (result with one thread, result with so many); one thread is measured once.

    Parameters
    ----------
    measure : callable(name, threads, N) -> CpuResult
    """
    alone = functools.lru_cache(maxsize=32)(lambda name, N: measure(name, 1, N))

    def compare(name, threads, N):
        one = alone(name, N)
        return one, one if threads == 1 else measure(name, threads, N)

    return compare


def thread_facts(pair):
    """Return what the table shows of a program with one thread and with several."""
    one, many = pair
    ratio = one.time.median_s / many.time.median_s
    return {"threads": str(many.threads), "CPUs of this machine": str(cpu_count()),
            "time": f"{1e3 * many.time.median_s:.3g} ms",
            "half of the times": f"{1e3 * many.time.low_s:.3g} to {1e3 * many.time.high_s:.3g} ms",
            "GFLOP/s": f"{many.gflops:.3g}", "GFLOP/s with 1 thread": f"{one.gflops:.3g}",
            "times as fast as 1 thread": f"{ratio:.2f}", "efficiency": f"{100 * ratio / (many.threads or 1):.0f} %"}


def thread_bars(pair):
    """Draw the speed with one thread, with several, and with that many times the first; return (Axes, alternative text)."""
    one, many = pair
    count = many.threads or 1
    several = f"{count} thread{'s' * (count != 1)}"
    values = {"1 thread": one.gflops, several: many.gflops, f"ideal of {several}": count * one.gflops}
    ax = bars(values, style.axes(width=6.2, height=3.2), title=f"{many.kernel.name}, N = {many.N}", unit=f"GFLOP/s, {many.label}")
    said = ", ".join(f"{label} {value:.3g}" for label, value in values.items())
    return ax, f"GFLOP/s of {many.kernel.name} at N = {many.N}, {many.label}: {said}."


def thread_sliders(name="gemm_pthreads", threads=1, N=256, *, sizes=(128, 256, 384, 512), measure=speed):
    """Put controls on the program, the number of threads and N; each move is measured.

    Returns
    -------
    Explore
    """
    controls = (Control("program", "what computes", THREADED, name),
                Control("threads", "how many compute at once", (1, 2, 4, 8, 16), threads),
                Control("N", "rows and columns of A, B and C", tuple(sizes), N))
    return Explore(controls, compare_threads(measure), facts=thread_facts, picture=thread_bars, doing="measuring",
                   done="measured on this CPU", ahead=False)


def recorded_gains(recording, names=THREADED):
    """Return name -> {threads: how many times as fast as one thread}, of recorded times.

    >>> from course_lib.data import load
    >>> round(recorded_gains(load("threads"))["gemm_pthreads"][2], 2)
    2.1
    """
    times = {name: {r.parameters["threads"]: r.median_s for r in recording.find(name)} for name in names}
    return {name: {count: found[1] / found[count] for count in sorted(found)} for name, found in times.items()}


def gains_picture(gains, label):
    """Draw gains against threads, beside as many times as there are threads; return (Axes, alternative text)."""
    counts = list(next(iter(gains.values())))
    ax = lines(counts, {name: [gain[count] for count in counts] for name, gain in gains.items()}, xlabel="threads", log=True,
               predicted={"as many times as threads": counts}, ylabel="times as fast as 1 thread", title=label)
    said = "; ".join(f"{name} " + ", ".join(f"{gain[count]:.1f} with {count}" for count in counts[1:]) for name, gain in gains.items())
    return ax, f"Times as fast as one thread, {label}: {said}."
