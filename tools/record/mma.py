"""Record the most that `mma.sync` does on a GPU.

Writes mma.json into the output folder: a row for each instruction and each number of warps on a multiprocessor. `mhz`: a multiprocessor's
cycles per microsecond meanwhile. `source`: the fingerprint of mma_rates.cu.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import toolchain
from course_lib.bench.fingerprint import fingerprint
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

SOURCE = Path(__file__).with_name("mma_rates.cu")
ENTRY, SUMS, TURNS = "mma_rates", 8, 2**18
LAUNCHES = ((1, 128), (1, 256), (2, 256), (1, 512))       # blocks for each multiprocessor, threads of a block
TILES = ((1.5, 0.5), (-1.25, 3.0))                        # what fills A and B: every sum is exact


@dataclass(frozen=True)
class Instruction:
    """One kind of `mma.sync`: its name as in `model.mma_rate`, rows, columns and depth of its tiles, and its number in mma_rates.cu."""

    kind: str
    shape: tuple[int, int, int]
    number: int

    def operand(self, value: float) -> np.generic:
        """Return a register full of a number: two bfloat16, one TF32, or a double."""
        if self.kind.startswith("f64"):
            return np.float64(value)
        bits = int(np.float32(value).view(np.uint32))
        return np.uint32(bits >> 16 | bits if self.kind == "bf16" else bits)

    def sums(self, a: float, b: float, turns: int) -> float:
        """Return what each thread ends with."""
        m, n, k = self.shape
        return SUMS * (m * n // 32) * turns * k * a * b


INSTRUCTIONS = (
    Instruction("bf16", (16, 8, 16), 0), Instruction("tf32", (16, 8, 8), 1), Instruction("f64 m8n8k4", (8, 8, 4), 2),
    Instruction("f64 m16n8k4", (16, 8, 4), 3), Instruction("f64 m16n8k8", (16, 8, 8), 4), Instruction("f64 m16n8k16", (16, 8, 16), 5))


def defines(one: Instruction, turns: int = TURNS) -> dict[str, int]:
    """Return the macros of an instruction's loop."""
    return {"KIND": one.number, "SUMS": SUMS, "TURNS": turns}


def measured(one: Instruction, arch: str, sms: int) -> list[dict[str, Any]]:
    """Return the rows of one instruction: medians of launches of 7 to 30 ms, 10^12 operations a second, clock, whether sums are right."""
    from course_lib import gpu
    from course_lib.gpu.launch import prepare_function
    from course_lib.gpu.timing import Timing, time_call
    from tools.record.together import clock_mhz
    compiled = toolchain.compile_cuda(SOURCE.read_text(encoding="utf-8"), name=SOURCE.name, arch=arch, defines=defines(one))
    function, rows = prepare_function(compiled, ENTRY, 0), []

    def timed(*launch: Any) -> Timing:
        return time_call(lambda stream: function(*launch), repeats=21, warmup=3, budget_s=0.3)
    for each, threads in LAUNCHES:
        blocks, right = each * sms, True
        out = gpu.to_device(np.zeros(blocks * threads, np.float64 if one.kind.startswith("f64") else np.float32))
        for a, b in TILES:
            last = (blocks, 1, 1), (threads, 1, 1), (one.operand(a), one.operand(b), out)
            time = timed(*last)
            right &= bool((out == one.sums(a, b, TURNS)).all())
        operations = 2 * np.prod(one.shape) * SUMS * TURNS * blocks * threads // 32
        rows.append({"kind": one.kind, "blocks": blocks, "threads": threads, "sums": SUMS, "turns": TURNS, "median_s": time.median_s,
                     "low_s": time.low_s, "high_s": time.high_s, "tflops": round(float(operations / time.median_s / 1e12), 2),
                     "mhz": round(clock_mhz(lambda launch=last: function(*launch), time.median_s)), "correct": right})
    return rows


@click.command()
@out_option("mma")
def command(out: Path) -> None:
    """Record every instruction."""
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    source = {"source": fingerprint(SOURCE.read_text(encoding="utf-8"))}
    rows = [row | source for one in INSTRUCTIONS for row in measured(one, status.arch, sms)]
    print(*rows, sep="\n")
    write_recording(out, "mma", rows, {}, "record mma", status.name, status.driver)
    if not all(row["correct"] for row in rows):
        raise SystemExit(1)
