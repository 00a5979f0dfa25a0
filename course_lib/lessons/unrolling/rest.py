"""The rest of a loop that was unrolled by hand: what is lost without it, and the loops that a compiler writes for it."""

from typing import Any

from course_lib import kernels
from course_lib.plots import Table
from course_lib.run import matches, run
from course_lib.toolchain import compile_cuda, loops, sass

NAIVE = "sgemm_naive"


def first_columns(kernel: str, A: Any, B: Any, factor: int = 4) -> str:
    """Say whether a kernel's product is right, or that of only so many columns of A and rows of B as `factor` divides."""
    K = A.shape[1]
    C, whole = run(kernel, A, B).C, K - K % factor
    if matches(C, A, B):
        return f"K = {K}: right"
    if matches(C, A[:, :whole].copy(), B[:whole].copy()):
        return f"K = {K}: wrong; it is the product of the first {whole} columns of A and rows of B"
    return f"K = {K}: wrong"


def compiled_loops() -> Table:
    """Return a table of the loops along K that the compiler makes of the naive kernel's only loop, in the order of the machine code."""
    kernel = kernels.get(NAIVE)
    found = loops(sass(compile_cuda(kernel.source, name=kernel.file_name, arch="sm_90", defines=kernel.defines()), kernel.entry))
    rows = [(f"loop {n}", loop.counts["FFMA"]) for n, loop in enumerate(found, 1)]
    caption = f"{NAIVE}, whose source has one loop along K; code for sm_90"
    return Table(("in the machine code", "multiply-adds per iteration"), rows, caption)
