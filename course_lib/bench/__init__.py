"""How fast things run: repeated measurements, as records that tables, plots and files share.

`python -m course_lib.bench simt` measures the simulator; docs/simulator-speed.md keeps its table.
`python -m course_lib.bench ladder` and its neighbours sweep over kernels, sizes, tiles, warps and threads; docs/sweeps.md tells how.

    from course_lib.bench import plans, sweep
    sweep(plans.tiles("sgemm_tiled", 512, backend="sim"), out="tiles.jsonl")
"""

from course_lib.bench.machine import Machine, this_machine
from course_lib.bench.records import Measurement, Result, dumps, loads
from course_lib.bench.sweep import Sweep, sweep
from course_lib.bench.tasks import Task, task
from course_lib.bench.timing import Spread, repeat

__all__ = ["Machine", "Measurement", "Result", "Spread", "Sweep", "Task", "dumps", "loads", "repeat", "sweep", "task", "this_machine"]
