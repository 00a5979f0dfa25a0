"""How fast things run: repeated measurements, as records that tables, plots and files share.

`python -m course_lib.bench simt` measures the simulator; docs/simulator-speed.md keeps its table.
"""

from course_lib.bench.machine import Machine, this_machine
from course_lib.bench.records import Measurement, Result, dumps, loads
from course_lib.bench.timing import Spread, repeat

__all__ = ["Machine", "Measurement", "Result", "Spread", "dumps", "loads", "repeat", "this_machine"]
