"""What the kernels of lesson 17 were recorded to reach on an H200: a scoreboard, and the speed over the number of stages."""

from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.lessons.stages.tiles import CEILING, LARGE, recorded, tflops
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture
from course_lib.widgets.compute import evaluate

N, SIZES = 4096, (1024, 2048, 4096)
STAGES = (1, 2, 3, 4, 5)
LINES = {"128 × 128": (128, False), "64 × 64": (64, False), "64 × 64, one block at a time": (64, True)}


def row_of(N: int, stages: int, tile: int = 128, alone: bool = False) -> dict[str, Any]:
    """Return a recorded row; `stages` 1 is `dgemm_mma`, 0 is cuBLAS."""
    return recorded(N=N, stages=stages, tile=tile if stages else 0, alone=alone)


def speed(N: int, stages: int, tile: int = 128, alone: bool = False) -> float:
    """Return the recorded 10^12 operations a second."""
    return tflops(row_of(N, stages, tile, alone))


def cycles_per_step(stages: int, tile: int = 64, alone: bool = True, N: int = N) -> float:
    """Return the cycles that a multiprocessor took per step of one block, at the GPU's highest clock.

    Blocks that share a multiprocessor share its time, too: then it is the time per step of all of them together.
    """
    device = DEFAULT_DEVICE
    operations = 2 * tile * tile * 16
    return operations * device.sms * 1e6 * device.clock_mhz / (1e12 * speed(N, stages, tile, alone))


def scoreboard() -> Table:
    """Return the kernels with the large tile beside cuBLAS: speeds with quartiles, the share of cuBLAS, and the clock under load."""
    rows = []
    for stages in (1, 2, 3, 4, 0):
        found = [row_of(size, stages) for size in SIZES]
        name = {0: "NVIDIA's library, cuBLAS", 1: "dgemm_mma: one stage"}.get(stages, f"dgemm_stages: {stages} stages")
        tile: dict[str, int] = LARGE | ({"STAGES": stages} if stages > 1 else {})
        conflicts = "" if not stages else evaluate(found[0]["kernel"], 128, tile, backend="sim").count("conflicts")
        rows.append((name, conflicts, *map(_with_quartiles, found), f"{speed(N, stages) / speed(N, 0):.0%}",
                     f"{found[-1]['clock_mhz']:,.0f}"))
    header = ("kernel", "bank conflicts", *(f"TFLOP/s, N = {size}" for size in SIZES), f"of cuBLAS, N = {N}", "MHz under load")
    return Table(header, rows, f"float64, beta = 0, tiles of 128 × 128, {data.readings('stages').label}; medians with quartiles; conflicts "
                 f"simulated. The tensor cores' ceiling is stated as {CEILING} TFLOP/s")


def _with_quartiles(row):
    return f"{tflops(row):.1f} ({tflops(row, 'high_s'):.1f} to {tflops(row, 'low_s'):.1f})"


@style.styled
def speeds() -> Picture:
    """Draw the speed over the number of stages, a line for each tile; cuBLAS is dashed."""
    ax = style.axes(width=9.0, height=4.4)
    told = []
    for (name, (tile, alone)), marker, colour in zip(LINES.items(), style.MARKERS, style.CYCLE, strict=False):
        line = [speed(N, stages, tile, alone) for stages in STAGES]
        ax.plot(STAGES, line, marker=marker, color=colour, label=name)
        told.append(f"{name}: " + ", ".join(f"{value:.1f} with {stages}" for stages, value in zip(STAGES, line, strict=True)))
    ax.axhline(speed(N, 0), color=style.GREY, linestyle="--", label="cuBLAS")
    ax.set_xticks(STAGES)
    ax.set(xlabel=f"stages (1: dgemm_mma)\nN = {N}, {data.readings('stages').label}", ylabel="TFLOP/s", ylim=(0, 66))
    ax.grid(axis="y")
    style.legend_beside(ax)
    return render(ax, "TFLOP/s by tile of C and stages. " + ". ".join(told) + f". cuBLAS: {speed(N, 0):.1f}.")
