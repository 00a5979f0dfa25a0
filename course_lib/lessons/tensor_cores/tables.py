"""Lesson 16's printed lines and tables: costs of a product's matrix instructions, and recorded speeds."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.costs import Costs, costs_of
from course_lib.plots import Table, draw_curves
from course_lib.run import RunResult, matches, run
from course_lib.widgets.compute import inputs

KERNELS = ("sgemm_warp_tile", "sgemm_wmma", "sgemm_mma", "sgemm_bf16", "sgemm_split")
SIZES = (1024, 2048, 4096, 8192)
WHITE_PAPER_MHZ = 1830


def costs_of_kernels() -> dict[str, Costs]:
    """Run the kernels on the simulator, print whether they are right, and return what a product costs each of them."""
    A, B, _ = inputs(128, 128, 256)
    found = {}
    for name in KERNELS:
        r: RunResult = run(name, A, B, backend="sim")
        found[name] = costs_of(r)
        if name != "sgemm_warp_tile":
            right = "right" if matches(r.C, A, B, inputs=r.kernel.inputs) else "wrong"
            print(f"{name:15} {r.count('conflicts')} bank conflicts of loads, {r.occupancy.warps:2} warps fit an SM, {right}")
    return found


def peaks() -> dict[str, float]:
    """Return the modelled peak of each kernel's instruction on an H200, in GFLOP/s."""
    h200 = device("H200")
    tf32, bf16, ffma = h200.peak_gflops_tensor("tf32"), h200.peak_gflops_tensor("bf16"), h200.peak_gflops
    return {"sgemm_bf16": bf16, "sgemm_mma": tf32, "sgemm_wmma": tf32, "sgemm_split": bf16 / 6, "cuBLAS": ffma, "sgemm_warp_tile": ffma}


def speeds() -> dict[str, dict[int, float]]:
    """Return the recorded GFLOP/s of each kernel by N."""
    records = (*data.load("tensor").records, *data.load("ladder").records)
    return {name: {r.N: r.gflops or 0.0 for r in records if r.kernel == name} for name in peaks()}


def best_without() -> dict[int, float]:
    """Return the recorded GFLOP/s of the fastest kernel of the course without tensor cores, by N."""
    records = [r for name in ("ladder", "tuned") for r in data.load(name).records if r.kernel != "cuBLAS"]
    return {N: max(r.gflops or 0.0 for r in records if r.N == N) for N in SIZES}


def speed_curves() -> tuple[Axes, str]:
    """Draw the recorded speeds over N; return the chart and its alternative text."""
    lines = speeds()
    ax = draw_curves(lines, xlabel=f"N\n{data.load('tensor').label}", ylabel="GFLOP/s", log=True,
                     title="H200, tensor cores and FFMA; cuBLAS in float32")
    return ax, "GFLOP/s at N = 8192: " + ", ".join(f"{name} {line[8192]:,.0f}" for name, line in lines.items()) + "."


def print_peaks_and_best() -> None:
    """Print what the data sheet says of the peaks, and the fastest kernels without tensor cores."""
    h200 = device("H200")
    sheet = [f"{WHITE_PAPER_MHZ / h200.clock_mhz * h200.peak_gflops_tensor(key) / 1e3:.1f} TFLOP/s in {name}"
             for key, name in (("tf32", "TF32"), ("bf16", "bfloat16"))]
    print(f"NVIDIA's H100 white paper, without sparsity, at {WHITE_PAPER_MHZ} MHz:", ", ".join(sheet))
    print("our best FFMA kernels:", ", ".join(f"{gflops:,.0f} at N = {N}" for N, gflops in best_without().items()))


def speed_table() -> Table:
    """Return the recorded speeds at four sizes, and the share of the instruction's peak at the largest."""
    rows: list[tuple[Any, ...]] = [(name, *(f"{line[N]:,.0f}" for N in SIZES), f"{line[8192] / peaks()[name]:.0%}")
                                   for name, line in speeds().items()]
    return Table(("kernel", *(f"N = {N}" for N in SIZES), "of its peak, 8192"), rows,
                 f"GFLOP/s, cuBLAS in float32, {data.load('tensor').label}; peaks modelled from NVIDIA's rates at 1980 MHz")
