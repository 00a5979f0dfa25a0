"""What shared memory allows at most, and what kernels, the library and loops of nothing but `mma.sync` were recorded to reach."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.lessons.tensor_cores.counts import of_an_mma
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

TILE = {"BM": 128, "BN": 128, "WM": 64, "WN": 32}                  # of the kernels that share tiles in shared memory
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
IN_FLOAT32 = "cuBLAS (float32)"                # the bar without tensor cores, from a recording of its own
BARS = {                                       # name of a bar -> kernel
    "your warp_mma (TF32)": "warp_mma",
    IN_FLOAT32: "cuBLAS",
    "sbgemm_mma (bfloat16)": "sbgemm_mma",
    "cuBLAS (bfloat16)": "cuBLAS",
}


def alone(kind: str) -> float:
    """Return the most 10^12 operations a second that a loop of nothing but this `mma.sync` was recorded to do on an H200."""
    return max(row["tflops"] for row in data.readings("mma").find(kind=kind))


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel in this lesson: 4096 × 4096 matrices, on an H200, the kernels in turns."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if kernel in ("cuBLAS", "warp_mma") or row["parameters"].items() >= TILE.items())


def scores() -> dict[str, float]:
    """Return by name the recorded 10^12 operations a second."""
    library, = data.load("ladder").find("cuBLAS", 4096)
    ordinary = 2 * library.N**3 / library.seconds / 1e12
    return {name: ordinary if name == IN_FLOAT32 else recorded(kernel)["tflops"] for name, kernel in BARS.items()}


def limit() -> float:
    """Return how many 10^12 operations a second the wavefronts of `sbgemm_mma` allow at most."""
    each = of_an_mma("sbgemm_mma")
    return limit_by_wavefronts(each["loaded"] + each["stored"])


@style.styled
def draw_scores() -> Axes:
    """Draw `scores` as bars, and the `limit` as an outline around its bar."""
    found, most, ax = scores(), limit(), style.axes(width=9.0, height=3.6)
    at, speeds = range(len(found)), list(found.values())
    drawn = ax.barh(at, speeds, color=style.BLUE, height=0.66, label="recorded")
    ax.barh(list(BARS.values()).index("sbgemm_mma"), most, facecolor="none", edgecolor=style.INK, linewidth=2, height=0.66,
            label=f"computed: {most:.0f}, what its wavefronts allow")
    words = [f"{speed:.0f}" + ", without tensor cores" * (name == IN_FLOAT32) for name, speed in found.items()]
    ax.bar_label(drawn, words, padding=5, fontsize=13)
    ax.set_yticks(at, list(found), fontsize=13)
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.15 * max(speeds))
    ax.set_xlabel(f"TFLOP/s, N = 4,096; {data.readings('short').label}\n(cuBLAS without tensor cores: {data.load('ladder').date})",
                  fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.02), ncols=2, borderaxespad=0)
    return ax


def scoreboard() -> Picture:
    """Show the recorded speeds as bars, and what the wavefronts of `sbgemm_mma` allow."""
    said = "; ".join(f"{name} {speed:.0f}" for name, speed in scores().items())
    return render(draw_scores(), f"TFLOP/s: {said}. The wavefronts of sbgemm_mma allow {limit():.0f}.")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
