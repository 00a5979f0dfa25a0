"""The front door: one kernel, one input, one `RunResult`, on a GPU or on the simulator.

    from course_lib.run import run
    run("sgemm_tiled", A, B, BM=16, BN=16, BK=16)
"""

from course_lib.run.accuracy import Mismatch, matches, max_error, mismatch, reference, tolerance
from course_lib.run.door import resolve, run
from course_lib.run.launch import Job, choose_backend, execute
from course_lib.run.result import LaunchResult, RunResult, counter_name, line_table, per_line

__all__ = ["Job", "LaunchResult", "Mismatch", "RunResult", "choose_backend", "counter_name", "execute", "line_table", "matches",
           "max_error", "mismatch", "per_line", "reference", "resolve", "run", "tolerance"]
