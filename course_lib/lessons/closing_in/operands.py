"""What reading operands costs the ladder's last kernels: counted in machine code, beside the recorded speeds."""

from course_lib import data
from course_lib.arch import device
from course_lib.model import peak
from course_lib.model.operands import MEASURED
from course_lib.plots import Table
from course_lib.run import kernel_reads

N = 4096
LAST = ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered")


def operand_rows() -> list[tuple[str, float, float, float]]:
    """Return a row for each kernel: name, least cycles per FFMA, the GFLOP/s that they allow an H200, and those recorded."""
    rows = []
    for name in LAST:
        cycles = kernel_reads(name).step.per_multiply_add
        rows.append((name, cycles, peak(device("H200")) / cycles, data.load("ladder").find(name, N)[0].gflops or 0.0))
    return rows


def operand_table() -> Table:
    """Return the rows as a table."""
    rows = [(name, f"{cycles:.2f}", f"{allows:,.0f}", f"{speed:,.0f}") for name, cycles, allows, speed in operand_rows()]
    label = data.load("ladder").label
    return Table(("kernel", "cycles / FFMA", "they allow", f"recorded, N = {N}"), rows,
                 f"GFLOP/s; least cycles and what they allow modelled from code for sm_90; speeds {label}")


def outer_products() -> str:
    """Return a line on what outer products of registers alone were measured to reach, in either order."""
    plain, snake = MEASURED[8, 8, False], MEASURED[8, 8, True]
    return f"8 × 8 products in registers alone, measured on an H200, November 2026: {plain} TFLOP/s row by row, {snake} in serpentine order"
