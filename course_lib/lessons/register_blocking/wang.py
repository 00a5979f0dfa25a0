"""Optional: the kernels that this lesson follows, as their authors measured them on a Tesla K80, and on an H200."""

from course_lib import data
from course_lib.arch import device
from course_lib.data import documents
from course_lib.lessons.register_blocking.counts import wavefronts
from course_lib.lessons.register_blocking.experiments import N_COUNTED, N_TIMED, recorded
from course_lib.model import blocks, busiest
from course_lib.plots import Table
from course_lib.run import footprint
from course_lib.widgets.compute import evaluate

STEPS = (("sgemm_block", 1, "1 × 1"), ("sgemm_ilp", 4, "4 × 1"), ("sgemm_outputs", 16, "4 × 4"))
SIZES = (512, 1024, 2048)
TILE = 64


def their_kernels() -> Table:
    """Return a table of the three float32 kernels that take their step from one output to 16, on an H200."""
    rows = []
    for kernel, outputs, shape in STEPS:
        record, taken = recorded(kernel), footprint(kernel)
        waves = wavefronts(evaluate(kernel, N_COUNTED, record.parameters, backend="sim"))
        rows.append((kernel, f"{outputs} ({shape})", f"{waves:.3f}", taken.resources.registers, taken.occupancy.warps,
                     f"{record.gflops:,.0f}"))
    header = ("kernel", "outputs per thread", "wavefronts, loads and stores, per multiply-add of a warp", "registers per thread",
              "warps per multiprocessor", "GFLOP/s")
    return Table(header, rows, f"float32, N = {N_TIMED}, {data.load('wang').label}; wavefronts simulated, warps modelled")


def _speeds(gpu: str) -> dict[int, float]:
    """Return GFLOP/s by N of their final float64 kernel with 16 × 16 threads."""
    if gpu == "Tesla K80":
        return documents.WANG_4.column("16 x 16")
    return {r.N: r.gflops for r in data.load("wang").find("dgemm_outputs") if r.parameters["by"] == 16}


def blocks_and_guards() -> Table:
    """Return a table of what guards and unaligned rows cost, and of what one more row of blocks costs, on both GPUs."""
    rows = []
    for gpu in ("Tesla K80", "H200"):
        speed = _speeds(gpu)
        for n in SIZES:
            most = [busiest(blocks(size, TILE), device(gpu).sms) for size in (n, n + 1)]
            rows.append((gpu, n, f"{speed[n - 1] / speed[n]:.2f}", f"{speed[n + 1] / speed[n - 1]:.2f}", f"{most[0]} → {most[1]}",
                         f"{most[0] / most[1]:.2f}"))
    header = ("GPU", "N", "guards and unaligned rows: speed at N − 1 / at N", "blocks: speed at N + 1 / at N − 1",
              "blocks of the busiest multiprocessor, N → N + 1", "their ratio")
    return Table(header, rows, f"float64, 64 × 64 tiles, 16 × 16 threads. K80: their Table 4. H200: {data.load('wang').label}")
