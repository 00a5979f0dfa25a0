"""What shared memory allows at most, and what kernels, the library and a loop of nothing but `mma.sync` were recorded to reach."""

from typing import Any

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.counts import of_an_mma
from course_lib.plots import Table

SIZE = 8192
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
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


def speed(kernel: str) -> float:
    """Return a kernel's recorded 10^12 operations a second at `SIZE`, on an H200."""
    records = (*data.load("tensor").records, *data.load("ladder").records)
    return next((r.gflops or 0.0) / 1e3 for r in records if r.kernel == kernel and r.N == SIZE)


def library() -> float:
    """Return the 10^12 operations a second of cuBLAS in bfloat16 at `SIZE`."""
    row, = data.readings("warpgroups").find(kernel="sbgemm_tma", N=SIZE)
    return 2e-12 * SIZE**3 / float(row["library"])


def scoreboard() -> Table:
    """Return the wavefronts that feed an `mma`, the speed that they allow at most, and the recorded one."""
    rows: list[tuple[Any, ...]] = [("cuBLAS, float32", "", "", f"{speed('cuBLAS'):.0f}")]
    for name, numbers in (("sgemm_mma", "TF32"), ("sgemm_bf16", "bfloat16")):
        found = of_an_mma(name)
        each = found["loaded"] + found["stored"]
        rows.append((f"{name}, {numbers}", f"{each:g}", f"{allowed(each, numbers):.0f}", f"{speed(name):.0f}"))
    rows += [("nothing but mma, bfloat16", "", "", f"{alone('bf16'):.0f}"), ("cuBLAS, bfloat16", "", "", f"{library():.0f}")]
    dates = [data.load("tensor").date, data.readings("mma").date, data.readings("warpgroups").date]
    return Table(("", "wavefronts per mma", "they allow, TFLOP/s", "recorded, TFLOP/s"), rows,
                 f"N = {SIZE:,}; recorded on NVIDIA H200, {min(dates)} to {max(dates)}")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
