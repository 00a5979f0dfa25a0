"""Optional: the kernels that this lesson follows, on an H200."""

from course_lib import data
from course_lib.lessons.register_blocking.counts import wavefronts
from course_lib.lessons.register_blocking.experiments import N_COUNTED, N_TIMED
from course_lib.plots import Table
from course_lib.run import footprint
from course_lib.widgets.compute import evaluate

STEPS = (("sgemm_block", 1, "1 × 1"), ("sgemm_ilp", 4, "4 × 1"), ("sgemm_outputs", 16, "4 × 4"))


def their_kernels() -> Table:
    """Return a table of the three float32 kernels that take their step from one output to 16, on an H200."""
    rows = []
    for kernel, outputs, shape in STEPS:
        record = next(r for r in data.load("wang").find(kernel, N_TIMED) if r.parameters.get("by") != 8)
        taken = footprint(kernel)
        waves = wavefronts(evaluate(kernel, N_COUNTED, record.parameters, backend="sim"))
        rows.append((kernel, f"{outputs} ({shape})", f"{waves:.3f}", taken.resources.registers, taken.occupancy.warps,
                     f"{1e3 * record.seconds:.2f}"))
    header = ("kernel", "outputs per thread", "wavefronts, loads and stores, per multiply-add of a warp", "registers per thread",
              "warps per multiprocessor", "ms")
    return Table(header, rows, f"float32, N = {N_TIMED}, {data.load('wang').label}; wavefronts simulated, warps modelled")
