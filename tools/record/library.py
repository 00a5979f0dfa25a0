"""Count on a GPU what cuBLAS computes for one float32 product.

It is run once under Nsight Compute. Lesson 00 compares its time with kernels whose multiply-adds are known; these are the library's.
"""

import subprocess
from pathlib import Path

import click
import numpy as np

from tools import ROOT, ToolError, again
from tools.nsight import find_ncu, kernel_of, number, parse_ncu
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

METRICS = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "multiply_adds",
           "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": "additions",
           "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": "multiplications",
           "smsp__inst_executed_pipe_tensor_op_hmma.sum": "tensor_instructions"}
LARGE = 1_000_000       # operations: cuBLAS is loaded by a product of 2 × 2, which is watched, too


def multiply(N: int) -> None:
    """Multiply two N × N matrices by cuBLAS, as `gpu.library` times it."""
    import ctypes

    import cupy

    from course_lib.gpu.library import bind_product
    rng = np.random.default_rng(3 * N)
    A, B = (cupy.asarray(rng.standard_normal((N, N), np.float32)) for _ in "AB")
    stream = cupy.cuda.Stream(non_blocking=True)
    bind_product(A, B, cupy.empty((N, N), cupy.float32), 1.0, 0.0, (False, False), ctypes.c_void_p(stream.ptr))()
    cupy.cuda.Device().synchronize()


def counted(N: int, said: Path) -> dict[str, int | str]:
    """Return what Nsight Compute counts, over all kernels that cuBLAS launches for the product."""
    command = [find_ncu(), "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(METRICS),
               *again("record", "library", "--once", N)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    said.write_text(answer.stdout + answer.stderr)
    rows = [row for row in parse_ncu(answer.stdout) if number(row[next(iter(METRICS))]) > LARGE]
    if not rows:
        raise ToolError(f"Nsight Compute saw no product: {(answer.stdout + answer.stderr)[-1500:]}")
    sums = {ours: sum(number(row[theirs]) for row in rows) for theirs, ours in METRICS.items() if theirs in rows[0]}
    return {"kernel": "cuBLAS", "N": N, "launched": ", ".join(map(kernel_of, rows))} | sums


@click.command()
@click.option("--size", "sizes", multiple=True, type=int, default=(1024, 4096), show_default=True)
@click.option("--once", type=int, hidden=True, help="Only multiply: this is what Nsight Compute watches.")
@out_option("library")
def command(sizes: tuple[int, ...], once: int | None, out: Path) -> None:
    """Count for each size."""
    if once:
        multiply(once)
        return
    out.mkdir(parents=True, exist_ok=True)
    status = usable_gpu()
    rows = [counted(N, out / f"library_{N}.csv") for N in sizes]
    print(*rows, sep="\n")
    write_recording(out, "library", rows, {}, "record library", status.name, status.driver)
