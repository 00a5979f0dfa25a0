"""The same on the reader's own machine: programs measured, and refused where they are faster than a roof that was measured too low."""

from collections.abc import Callable, Sequence

from course_lib.errors import CourseError
from course_lib.lessons.cpu.roofline import cpu_roofline, describe_cpu_roofline
from course_lib.lessons.cpu.thread_scaling import intensity, measure_programs
from course_lib.plots import Table, render
from course_lib.plots.picture import Picture
from course_lib.run import CpuPeak, CpuResult, cpu_peak
from course_lib.toolchain import no_compiler

PROGRAMS = ("gemm_ijk", "gemm_ikj", "gemm_blocked", "gemm_vectors", "gemm_packed", "blas")
COUNTED = ("gemm_ijk", "gemm_ikj", "gemm_blocked")
TRIES = 4


def under_a_roof(N: int, programs: Sequence[str] = PROGRAMS, measure_peak: Callable[[], CpuPeak] = cpu_peak,
                 measure: Callable[..., list[CpuResult]] = measure_programs) -> tuple[CpuPeak, list[CpuResult]]:
    """Measure the roofs, then programs; as long as one of them is faster than the peak, measure the roofs again.

    Raises
    ------
    CourseError
        Without a C compiler; when a program is still faster after four tries.
    """
    if missing := no_compiler():
        raise CourseError(f"the roofs of a CPU are measured by C programs: {missing}")
    roofs = measure_peak()
    results = measure(programs, N, threads=1)
    speeds = {result.kernel.name: result.gflops for result in results}
    for _ in range(TRIES - 1):
        if not roofs.above(speeds):
            break
        roofs = max(roofs, measure_peak(), key=lambda found: found.gflops)
    if too_fast := roofs.above(speeds):
        raise CourseError(f"{' and '.join(too_fast)}: {max(speeds.values()):.0f} GFLOP/s, and the peak was measured as {roofs.gflops:.0f}. "
                          "Nothing is faster than a peak, so the CPU was slower while that was measured: something else runs here, or "
                          "the clock changes. Run the cell again when the machine is idle.")
    return roofs, results


def measured(N: int = 512) -> Table | None:
    """Return a table of the programs on this machine, one thread, with their share of its peak; print why when it cannot be made."""
    try:
        roofs, results = under_a_roof(N)
    except CourseError as error:
        print(error)
        return None
    rows = [(r.kernel.name, f"{1e3 * r.time.median_s:,.1f} ms", f"{r.gflops:.1f} GFLOP/s", f"{r.gflops / roofs.gflops:.1%}")
            for r in results if r.time]
    caption = f"{N} × {N} matrices, one thread, median; the peak, the fastest sample, is {roofs.gflops:.0f} GFLOP/s; all {roofs.label}"
    return Table(("program", "time", "speed", "% of the peak"), rows, caption)


def measured_roofline(N: int = 256) -> Picture | None:
    """Draw the roofline of this machine, with programs whose lines can be counted and the library; print why when it cannot be drawn."""
    try:
        roofs, results = under_a_roof(N, (*COUNTED, "blas"))
    except CourseError as error:
        print(error)
        return None
    drawn = {r.kernel.name: (2 * N**3 / (12 * N**2) if r.kernel.name == "blas" else intensity(r.kernel.name, N), r.gflops) for r in results}
    ax = cpu_roofline(roofs, drawn)
    ax.set_xlabel("operations per byte that comes into the first cache")
    return render(ax, describe_cpu_roofline(roofs, drawn))
