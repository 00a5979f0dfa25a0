"""What the kernels of lesson 17 were recorded to reach on an H200: a scoreboard."""

from typing import Any

from course_lib import data
from course_lib.explorables.stages import LARGE as LARGE_RECORDED
from course_lib.explorables.stages import recorded
from course_lib.lessons.stages.flight import during_products
from course_lib.lessons.stages.tiles import LARGE
from course_lib.plots import Table

N, CUBLAS = 4096, ("cuBLAS", 0)
SHOWN = (1, 2, 3, 4, 5)


def row_of(N: int, kernel: str, stages: int) -> dict[str, Any]:
    """Return a recorded row."""
    row, = data.readings("stages").find(N=N, kernel=kernel, stages=stages)
    return row


def tflops(row: dict[str, Any]) -> float:
    """Return a row's speed in 10^12 operations a second."""
    return 2e-12 * row["N"] ** 3 / row["median_s"]


def speed(kernel: str, stages: int, N: int = N) -> float:
    """Return the recorded 10^12 operations a second."""
    return tflops(row_of(N, kernel, stages))


def scoreboard() -> Table:
    """Return the kernel with the large tile and one to five stages beside cuBLAS: steps ordered ahead, cycles, speed, share of cuBLAS."""
    rows: list[tuple[Any, ...]] = []
    for stages in SHOWN:
        ahead = during_products("dgemm_stages", **LARGE, STAGES=stages)
        rows.append((f"dgemm_stages: {stages} stage{'s' * (stages > 1)}", ahead, f"{recorded(stages, LARGE_RECORDED, dram=True):,.0f}",
                     *_speed("dgemm_stages", stages)))
    rows.append(("NVIDIA's library, cuBLAS", "", "", *_speed(*CUBLAS)))
    return Table(("kernel", "steps ahead", "cycles per step", "TFLOP/s", "of cuBLAS"), rows,
                 f"float64, tiles of 128 × 128, {data.readings('stages').label}. Steps ahead: those that may be on their way during a "
                 f"product, counted by the simulator. Cycles: as above, from DRAM. TFLOP/s: whole products, N = {N}")


def _speed(kernel, stages):
    return f"{speed(kernel, stages):.1f}", f"{speed(kernel, stages) / speed(*CUBLAS):.0%}"
