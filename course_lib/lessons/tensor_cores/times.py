"""What their wavefronts allow kernels at most, and what they, the library and loops of nothing but `mma.sync` were recorded to reach."""

import functools
from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.lessons.tensor_cores.counts import of_an_mma
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

TILE = {"BM": 128, "BN": 128, "WM": 64, "WN": 32}                  # of the kernels that share tiles in shared memory
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
OWN = 4 * 8 + 2 * 4                            # wavefronts of the L1 per `mma` of the lesson's kernel: four loads of A, two of B
SHARING = ("sbgemm_mma", "sbgemm_stages")      # kernels that share tiles in shared memory
IN_FLOAT32 = "cuBLAS (float32)"                # the bar without tensor cores, from a recording of its own
BARS = {                                       # name of a bar -> kernel
    "your warp_mma (TF32)": "warp_mma",
    IN_FLOAT32: "cuBLAS",
    "sbgemm_mma (bfloat16)": "sbgemm_mma",
    "sbgemm_stages (bfloat16)": "sbgemm_stages",
    "cuBLAS (bfloat16)": "cuBLAS",
}


def alone(kind: str) -> float:
    """Return the most 10^12 operations a second that a loop of nothing but this `mma.sync` was recorded to do on an H200."""
    return max(row["tflops"] for row in data.readings("mma").find(kind=kind))


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel in this lesson: 4096 × 4096 matrices, on an H200, the kernels in turns."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if kernel != "sbgemm_mma" or row["parameters"].items() >= TILE.items())


def scores() -> dict[str, float]:
    """Return by name the recorded 10^12 operations a second."""
    library, = data.load("ladder").find("cuBLAS", 4096)
    ordinary = 2 * library.N**3 / library.seconds / 1e12
    return {name: ordinary if name == IN_FLOAT32 else recorded(kernel)["tflops"] for name, kernel in BARS.items()}


@functools.cache
def limits() -> dict[str, float]:
    """Return by name how many 10^12 operations a second the wavefronts of a bar's kernel allow at most, where they are counted."""
    found = {"warp_mma": limit_by_wavefronts(OWN, depth=8)}
    for kernel in SHARING:
        each = of_an_mma(kernel)
        found[kernel] = limit_by_wavefronts(each["loaded"] + each["stored"])
    return {name: found[kernel] for name, kernel in BARS.items() if kernel in found}


@style.styled
def draw_scores() -> Axes:
    """Draw `scores` as bars, and the `limits` as outlines around their bars."""
    found, most, ax = scores(), limits(), style.axes(width=9.0, height=4.2)
    at, speeds = range(len(found)), list(found.values())
    ax.barh(at, speeds, color=style.BLUE, height=0.66, label="recorded")
    ax.barh([list(found).index(name) for name in most], list(most.values()), facecolor="none", edgecolor=style.INK, linewidth=2,
            height=0.66, label="computed: what its wavefronts allow")
    for row, (name, speed) in enumerate(found.items()):
        allowed = f", its wavefronts allow {most[name]:.0f}" if name in most else ", without tensor cores" * (name == IN_FLOAT32)
        ax.text(max(speed, most.get(name, 0)) + 8, row, f"{speed:.0f}{allowed}", va="center", fontsize=13)
    ax.set_yticks(at, list(found), fontsize=13)
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.7 * max(most.values()))
    ax.set_xlabel(f"TFLOP/s, N = 4,096; {data.readings('short').label}\n(cuBLAS without tensor cores: {data.load('ladder').date})",
                  fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.02), ncols=2, borderaxespad=0)
    return ax


def scoreboard() -> Picture:
    """Show the recorded speeds as bars, and what the wavefronts of three kernels allow."""
    said, most = "; ".join(f"{name} {speed:.0f}" for name, speed in scores().items()), limits()
    return render(draw_scores(), f"TFLOP/s: {said}. Wavefronts allow {', '.join(f'{name} {limit:.0f}' for name, limit in most.items())}.")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
