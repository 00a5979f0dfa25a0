"""Programs for the CPU side by side: time, speed, and how they compare with the slowest."""

from course_lib.run import CpuResult
from course_lib.run.table import Table


def cpu_table(results, caption=""):
    """Return a table of measured programs.

    Parameters
    ----------
    results : sequence of CpuResult
        Timed; all of one size.
    caption : str
        Default says the size and the CPU.

    Raises
    ------
    ValueError
        When a result has no time.
    """
    if any(r.time is None for r in results):
        raise ValueError("a program in the table was not timed")
    slowest = min(r.gflops for r in results)
    rows = [(r.kernel.name, "" if r.threads is None else str(r.threads), f"{1e3 * r.time.median_s:.3g}", f"{r.gflops:.3g}",
             _times(r.gflops / slowest)) for r in results]
    return Table(("program", "threads", "ms", "GFLOP/s", "times as fast as the slowest"), rows, caption or _caption(results[0]))


def _caption(result: CpuResult):
    return f"C is {result.M} × {result.N}, K = {result.K}, {result.dtype}, {result.label}"


def _times(ratio):
    """Write a ratio with three digits and no exponent.

    >>> _times(3641.7), _times(2.4567)
    ('3,642', '2.46')
    """
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
