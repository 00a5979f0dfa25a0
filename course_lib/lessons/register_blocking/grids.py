"""A grid with more blocks than C has tiles: the answer is right, and the counters tell."""

from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.run import LaunchResult

COUNTED = (("wavefronts of shared loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
           ("load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"))


def wasted_work(good: LaunchResult, bad: LaunchResult) -> Table:
    """Return a table of what two launches of the same kernel count.

    Raises
    ------
    CourseError
        When a launch has no counters.
    """
    if good.counters is None or bad.counters is None:
        raise CourseError("a launch has no counters: launch the kernel on 256 × 256 matrices, which the simulator runs beside a GPU")
    rows = [("blocks", *(f"{launch.grid[0] * launch.grid[1]:,}" for launch in (good, bad)), f"{_blocks(bad) / _blocks(good):.2f}")]
    rows += [(name, f"{good.counters[key]:,}", f"{bad.counters[key]:,}", f"{bad.counters[key] / good.counters[key]:.2f}")
             for name, key in COUNTED]
    return Table(("", "first launch", "this launch", "times as much"), rows, "256 × 256 matrices, simulated")


def _blocks(launch: LaunchResult) -> int:
    return launch.grid[0] * launch.grid[1]
