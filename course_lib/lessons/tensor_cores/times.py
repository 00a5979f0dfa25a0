"""What `mma.sync` was recorded to do with nothing else to do, and how much of it kernels reach."""

from typing import Any

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.tensor_cores.counts import of_a_product
from course_lib.plots import Table

SIZE = 8192
NUMBERS = {"sgemm_warp_tile": "float32", "cuBLAS": "float32", "sgemm_mma": "TF32", "sgemm_bf16": "bfloat16"}
KINDS = {"sgemm_mma": "tf32", "sgemm_bf16": "bf16"}                 # of mma.json
DOUBLES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
PRODUCT = {"bf16": 16 * 8 * 16, "tf32": 16 * 8 * 8}                 # multiply-adds of an instruction


def alone(kind: str) -> float:
    """Return the most 10^12 operations a second that a loop of nothing but this `mma.sync` was recorded to do on an H200."""
    return max(row["tflops"] for row in data.readings("mma").find(kind=kind))


def cycles_of_a_product(kind: str) -> float:
    """Return the cycles of an H200's multiprocessor for each instruction of such a loop, at the highest clock; at a lower one fewer."""
    h200 = device("H200")
    return h200.sms * 1e6 * h200.clock_mhz / (1e12 * alone(kind) / (2 * PRODUCT[kind]))


def speed(kernel: str) -> float:
    """Return a kernel's recorded 10^12 operations a second at `SIZE`, on an H200."""
    records = (*data.load("tensor").records, *data.load("ladder").records)
    return next((r.gflops or 0.0) / 1e3 for r in records if r.kernel == kernel and r.N == SIZE)


def step_cycles(kernel: str = "sgemm_bf16") -> float:
    """Return the cycles that a multiprocessor took for each step of a block's tile, at the highest clock; at a lower one it took fewer."""
    h200, tile = device("H200"), next(r for r in data.load("tensor").records if r.kernel == kernel and r.N == SIZE).parameters
    return 1e6 * h200.clock_mhz * h200.sms * 2 * tile["BM"] * tile["BN"] * tile["BK"] / (1e12 * speed(kernel))


def library() -> dict[str, Any]:
    """Return the recorded row in which cuBLAS and `sbgemm_tma` took turns at `SIZE`."""
    row, = data.readings("warpgroups").find(kernel="sbgemm_tma", N=SIZE)
    return row


def scoreboard() -> Table:
    """Return the recorded speeds of kernels and of the library, their share of what `mma.sync` alone reached, and counted wavefronts."""
    rows: list[tuple[Any, ...]] = []
    for name, numbers in NUMBERS.items():
        own: tuple[str, ...] = ("–", "–", "–")
        if name in KINDS:
            most, found = alone(KINDS[name]), of_a_product(name)
            own = f"{found['loaded'] + found['stored']:g}", f"{most:.0f}", f"{speed(name) / most:.0%}"
        rows.append((name, numbers, own[0], "H200", f"{speed(name):.1f}", *own[1:]))
    turns, card = library(), data.readings("warpgroups").device.split()[1]
    for name, seconds in (("cuBLAS", turns["library"]), ("sbgemm_tma, lesson 18", turns["ours"])):
        reached = 2e-12 * SIZE**3 / seconds
        rows.append((name, "bfloat16", "–", card, f"{reached:.1f}", f"{alone('bf16'):.0f}", f"{reached / alone('bf16'):.0%}"))
    return Table(("kernel", "multiplies", "wavefronts per product", "GPU", "TFLOP/s", "mma.sync alone", "share"), rows,
                 f"N = {SIZE:,}; {data.load('tensor').label}, and {data.readings('warpgroups').label}; "
                 f"mma.sync alone: {data.readings('mma').label}, in a loop without memory")


def in_float64() -> Table:
    """Return what each shape of the instruction for doubles reached alone."""
    rows = [(f"mma.{shape}", f"{alone(f'f64 {shape}'):.1f}") for shape in DOUBLES]
    return Table(("instruction", "TFLOP/s"), rows, f"float64, in a loop without memory, {data.readings('mma').label}")
