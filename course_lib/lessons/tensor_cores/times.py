"""What their wavefronts allow kernels at most, and what they, the library and loops of nothing but `mma.sync` were recorded to reach."""

import functools
from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.counts import of_an_mma, of_six_loads
from course_lib.lessons.tensor_cores.padding import speed_with_padding
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

TILE = {"BM": 128, "BN": 128, "WM": 64, "WN": 32}                  # of the kernels that share tiles in shared memory
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
SHARING = ("sgemm_mma", "sbgemm_mma", "sbgemm_stages")             # kernels that share tiles in shared memory
IN_FLOAT32 = "cuBLAS (float32)"                # the bar without tensor cores, from a recording of its own
BARS = {                                       # name of a bar -> kernel
    "your warp_mma (TF32)": "warp_mma",
    IN_FLOAT32: "cuBLAS",
    "sgemm_mma (TF32)": "sgemm_mma",
    "sbgemm_mma (bfloat16)": "sbgemm_mma",
    "sbgemm_stages (bfloat16)": "sbgemm_stages",
    "cuBLAS (bfloat16)": "cuBLAS",
}


def alone(kind: str) -> float:
    """Return the most 10^12 operations a second that a loop of nothing but this `mma.sync` was recorded to do on an H200."""
    return max(row["tflops"] for row in data.readings("mma").find(kind=kind))


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel that shares tiles, or of the library: 4096 × 4096 matrices, the kernels in turns."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if kernel != "sbgemm_mma" or row["parameters"].items() >= TILE.items())


def scores() -> dict[str, float]:
    """Return by name the recorded 10^12 operations a second."""
    library, = data.load("ladder").find("cuBLAS", 4096)
    ordinary = 2 * library.N**3 / library.seconds / 1e12
    known = {IN_FLOAT32: ordinary, next(iter(BARS)): speed_with_padding()}
    return {name: known.get(name) or recorded(kernel)["tflops"] for name, kernel in BARS.items()}


@functools.cache
def needed() -> dict[str, float]:
    """Return by name the wavefronts, of shared memory and of the L1, that each `mma` of a bar's kernel needs, where they are counted."""
    found = {"warp_mma": float(of_six_loads())}
    for kernel in SHARING:
        each = of_an_mma(kernel)
        found[kernel] = each["loaded"] + each["stored"] + each["fetched"]
    return {name: found[kernel] for name, kernel in BARS.items() if kernel in found}


def limits() -> dict[str, float]:
    """Return by name how many 10^12 operations a second the wavefronts that are `needed` allow at most."""
    return {name: limit_by_wavefronts(many, depth=8 if "TF32" in name else 16) for name, many in needed().items()}


@style.styled
def draw_scores() -> Axes:
    """Draw `scores` as bars, and the `limits` as outlines around their bars."""
    found, many, most, ax = scores(), needed(), limits(), style.axes(width=9.0, height=4.2)
    at, speeds = range(len(found)), list(found.values())
    ax.barh(at, speeds, color=style.BLUE, height=0.66, label="recorded")
    ax.barh([list(found).index(name) for name in most], list(most.values()), facecolor="none", edgecolor=style.INK, linewidth=2,
            height=0.66, label=f"computed: what the wavefronts allow, at {device('H200').clock_mhz / 1000:.2f} GHz")
    for row, (name, speed) in enumerate(found.items()):
        more = f"; {many[name]:g} wavefronts allow {most[name]:.3g}" if name in most else ", without tensor cores" * (name == IN_FLOAT32)
        ax.text(max(speed, most.get(name, 0)) + 8, row, f"{speed:.3g}{more}", va="center", fontsize=13)
    ax.set_yticks(at, list(found), fontsize=13)
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.85 * max(most.values()))
    ax.set_xlabel(f"TFLOP/s, N = 4,096; {data.readings('short').label}\n(cuBLAS without tensor cores: {data.load('ladder').date})",
                  fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.02), ncols=2, borderaxespad=0)
    return ax


def scoreboard() -> Picture:
    """Show the recorded speeds as bars, and what the wavefronts of four kernels allow."""
    said, most = "; ".join(f"{name} {speed:.3g}" for name, speed in scores().items()), limits()
    return render(draw_scores(), f"TFLOP/s: {said}. Wavefronts allow {', '.join(f'{name} {limit:.3g}' for name, limit in most.items())}.")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
