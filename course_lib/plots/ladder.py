"""The ladder of kernels as bars, recorded on a real GPU."""

from course_lib.errors import CourseError
from course_lib.plots.charts import bars
from course_lib.run.table import Table


def rungs(recording, N):
    """Return the records of one matrix size, from the first rung up.

    Parameters
    ----------
    recording : course_lib.data.Recording
    N : int

    Raises
    ------
    CourseError
        When that size was not recorded; it lists those that were.
    """
    found = tuple(r for r in recording.records if r.N == N)
    if not found:
        sizes = sorted({r.N for r in recording.records})
        raise CourseError(f"N = {N} was not recorded; there is N = {', '.join(map(str, sizes))}", N=N)
    return found


def ladder(recording, N, ax=None):
    """Draw a bar of GFLOP/s per kernel.

    Returns
    -------
    Axes
        Whose x label says where and when the figures are from.
    """
    return bars({r.kernel: r.gflops for r in rungs(recording, N)}, ax, unit=f"GFLOP/s, {recording.label}",
                title=f"N = {N}")


def ladder_table(recording, N):
    """Return the numbers of `ladder`, with times and with the driver in the caption."""
    rows = [(r.kernel, f"{1e3 * r.median_s:.4g}", f"{1e3 * r.low_s:.4g} to {1e3 * r.high_s:.4g}", f"{r.gflops:,.0f}")
            for r in rungs(recording, N)]
    return Table(("kernel", "median, ms", "quartiles, ms", "GFLOP/s"), rows,
                 f"N = {N}, {recording.label}, driver {recording.driver}")


def describe_ladder(recording, N):
    """Return the alternative text of `ladder`."""
    values = ", ".join(f"{r.kernel} {r.gflops:,.0f}" for r in rungs(recording, N))
    return f"Bars of GFLOP/s at N = {N}, {recording.label}: {values}."
