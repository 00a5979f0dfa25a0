"""What the kernels of lesson 17 were recorded to reach on an H200: a scoreboard."""

from typing import Any

from course_lib import data
from course_lib.lessons.stages.tiles import CEILING, LARGE
from course_lib.plots import Table
from course_lib.widgets.compute import evaluate

N, SIZES = 4096, (1024, 4096)
CUBLAS, LOADED = ("cuBLAS", 0), ("dgemm_mma", 0)
ROWS = {"dgemm_mma: load, wait, multiply": LOADED, "dgemm_stages: 1 stage": ("dgemm_stages", 1),
        **{f"dgemm_stages: {stages} stages": ("dgemm_stages", stages) for stages in (2, 3, 4, 5)}, "NVIDIA's library, cuBLAS": CUBLAS}


def row_of(N: int, kernel: str, stages: int) -> dict[str, Any]:
    """Return a recorded row."""
    row, = data.readings("stages").find(N=N, kernel=kernel, stages=stages)
    return row


def tflops(row: dict[str, Any], quantile: str = "median_s") -> float:
    """Return a row's speed in 10^12 operations a second."""
    return 2e-12 * row["N"] ** 3 / row[quantile]


def speed(kernel: str, stages: int, N: int = N) -> float:
    """Return the recorded 10^12 operations a second."""
    return tflops(row_of(N, kernel, stages))


def scoreboard() -> Table:
    """Return the kernels with the large tile beside cuBLAS: speeds with quartiles, the share of cuBLAS, and the clock under load."""
    rows = []
    for name, (kernel, stages) in ROWS.items():
        found = [row_of(size, kernel, stages) for size in SIZES]
        tile: dict[str, int] = LARGE | ({"STAGES": stages} if stages else {})
        conflicts = "" if kernel == "cuBLAS" else evaluate(kernel, 128, tile, backend="sim").count("conflicts")
        rows.append((name, conflicts, *map(_with_quartiles, found), f"{speed(kernel, stages) / speed(*CUBLAS):.0%}",
                     f"{found[-1]['clock_mhz']:,.0f}"))
    header = ("kernel", "bank conflicts", *(f"TFLOP/s, N = {size}" for size in SIZES), f"of cuBLAS, N = {N}", "MHz under load")
    return Table(header, rows, f"float64, beta = 0, tiles of 128 × 128, {data.readings('stages').label}; medians with quartiles; conflicts "
                 f"simulated. The tensor cores' ceiling is stated as {CEILING} TFLOP/s")


def _with_quartiles(row):
    return f"{tflops(row):.1f} ({tflops(row, 'high_s'):.1f} to {tflops(row, 'low_s'):.1f})"
