"""How many instructions copy a step's tiles, and how fast the two kernels were: everybody copies and multiplies, or each has a role."""

from typing import Any

from course_lib import data
from course_lib.plots import Picture, bars, render, style
from course_lib.run import run
from course_lib.widgets.compute import inputs

M, N, DEPTHS = 256, 512, (512, 1024)         # counted is what the second half of K adds
STEP = 128 * 256 * 64                        # multiply-adds of a step of the tiles of both
COPIES = ("smsp__sass_inst_executed_op_ldgsts.sum", "smsp__sass_inst_executed_op_tma_ld.sum")
KERNELS = ("sbgemm_stages", "sbgemm_tma")
LIBRARY = "cuBLAS"


def copies_per_step(kernel: str) -> int:
    """Return the copy instructions of a block in each step of 64 along K, for a tile of 128 × 256."""
    first, second = (_copies(kernel, K) for K in DEPTHS)
    return (second - first) * STEP // (M * N * (DEPTHS[1] - DEPTHS[0]))


def _copies(kernel: str, K: int) -> int:
    A, B, _ = inputs(M, N, K)
    blocks: dict[str, Any] = {"blocks": 2} if kernel == "sbgemm_tma" else {}
    counters = run(kernel, A, B, backend="sim", **blocks).counters or {}
    return sum(counters.get(name, 0) for name in COPIES)


def recorded() -> dict[str, float]:
    """Return the recorded TFLOP/s of both kernels and of the library, which took turns: bfloat16, 4096 × 4096 matrices."""
    found = data.readings("short")
    return {kernel: found.find(kernel=kernel, given="bf16")[0]["tflops"] for kernel in (*KERNELS, LIBRARY)}


@style.styled
def speeds() -> Picture:
    """Draw `recorded` as bars."""
    found, label = recorded(), data.readings("short").label
    ax = bars(found, style.axes(width=8.0, height=2.8), unit=f"TFLOP/s for 4096 × 4096 matrices of bfloat16,\n{label}", digits=4)
    said = ", ".join(f"{name} {speed}" for name, speed in found.items())
    return render(ax, f"Bars of recorded speeds in TFLOP/s: {said}. {label}.")
