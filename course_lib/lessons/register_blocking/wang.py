"""Optional: the kernels that this lesson follows, on an H200."""

from course_lib import data
from course_lib.lessons.register_blocking.counts import N_TIMED, words_per_multiply_add
from course_lib.plots import Table
from course_lib.run import footprint

STEPS = (("sgemm_block", 1, 1), ("sgemm_ilp", 4, 1), ("sgemm_outputs", 4, 4))


def their_kernels() -> Table:
    """Return a table of the three float32 kernels that take their step from one output to 16, on an H200."""
    rows = []
    for kernel, TM, TN in STEPS:
        record = next(r for r in data.load("wang").find(kernel, N_TIMED) if r.parameters.get("by") != 8)
        taken = footprint(kernel)
        rows.append((kernel, f"{TM} × {TN}", f"{float(words_per_multiply_add(TM, TN)):.2f}", taken.resources.registers,
                     taken.occupancy.warps, f"{1e3 * record.seconds:.2f}"))
    header = ("kernel", "outputs per thread", "words per multiply-add", "registers per thread", "warps per multiprocessor", "ms")
    return Table(header, rows, f"float32, N = {N_TIMED}, {data.load('wang').label}; warps modelled")
