"""What shared memory allows at most, and what kernels, the library and loops of nothing but `mma.sync` were recorded to reach."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.counts import of_an_mma
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

TILE = {"BM": 128, "BN": 128, "WM": 64, "WN": 32}                  # of the kernels that share tiles in shared memory
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
BARS = {                                       # name of a bar -> kernel, and what its `mma` multiplies if its wavefronts are counted
    "your warp_mma, TF32": ("warp_mma", ""),
    "rounds to TF32 (sgemm_mma)": ("sgemm_mma", "TF32"),
    "rounds to bfloat16 (sgemm_bf16)": ("sgemm_bf16", "bfloat16"),
    "bfloat16 in memory (sbgemm_mma)": ("sbgemm_mma", "bfloat16"),
    "cuBLAS, bfloat16": ("cuBLAS", ""),
}
MULTIPLY_ADDS = {"bfloat16": 16 * 8 * 16, "TF32": 16 * 8 * 8}       # of an instruction


def alone(kind: str) -> float:
    """Return the most 10^12 operations a second that a loop of nothing but this `mma.sync` was recorded to do on an H200."""
    return max(row["tflops"] for row in data.readings("mma").find(kind=kind))


def allowed(wavefronts: float, numbers: str = "bfloat16") -> float:
    """Return how many 10^12 operations a second an H200 can do at most, at its highest clock, when each `mma` needs so many wavefronts.

    >>> round(allowed(2)), round(allowed(2, "TF32"))
    (535, 268)
    """
    h200 = device("H200")
    return h200.sms * 1e6 * h200.clock_mhz / wavefronts * 2 * MULTIPLY_ADDS[numbers] / 1e12


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel in this lesson: 4096 × 4096 matrices, on an H200, the kernels in turns."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if kernel in ("cuBLAS", "warp_mma") or row["parameters"].items() >= TILE.items())


def scores() -> dict[str, tuple[float, float | None]]:
    """Return by name the recorded 10^12 operations a second, and how many the wavefronts allow at most; None where none are counted."""
    found: dict[str, tuple[float, float | None]] = {}
    for name, (kernel, numbers) in BARS.items():
        each = of_an_mma(kernel) if numbers else {}
        found[name] = recorded(kernel)["tflops"], allowed(each["loaded"] + each["stored"], numbers) if numbers else None
    return found


@style.styled
def draw_scores() -> Axes:
    """Draw `scores`: a full bar for what was recorded, an outline for what the wavefronts allow."""
    found, ax = scores(), style.axes(width=9.6, height=4.0)
    at, speeds = range(len(found)), [speed for speed, _ in found.values()]
    drawn = ax.barh(at, speeds, color=style.BLUE, height=0.66, label="recorded")
    most = {y: limit for y, (_, limit) in enumerate(found.values()) if limit is not None}
    ax.barh(list(most), list(most.values()), facecolor="none", edgecolor=style.INK, linewidth=2, height=0.66,
            label="computed: what the wavefronts allow")
    ax.bar_label(drawn, [f"{speed:.0f}" for speed in speeds], padding=5, fontsize=13)
    for y, limit in most.items():
        ax.text(limit + 8, y, f"{limit:.0f}", va="center", fontsize=13)
    ax.set_yticks(at, list(found), fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.12 * max(speeds))
    clocks = [recorded(kernel)["mhz"] for kernel, _ in BARS.values()]
    ax.set_xlabel(f"TFLOP/s, N = 4,096; {data.readings('short').label}\nat clocks of {min(clocks):,} to {max(clocks):,} MHz", fontsize=12)
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return ax


def scoreboard() -> Picture:
    """Show the recorded speeds as bars, and around those of kernels what their wavefronts allow."""
    said = [f"{name} {reached:.0f}" + (f", where its wavefronts allow {most:.0f}" if most else "")
            for name, (reached, most) in scores().items()]
    return render(draw_scores(), f"TFLOP/s: {'; '.join(said)}.")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
