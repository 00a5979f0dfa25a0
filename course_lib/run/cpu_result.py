"""What one run of a program on the CPU gave: the answer, how long it took, and with which compiler or library."""

from dataclasses import dataclass, field
from typing import Any

from course_lib.gpu import Timing
from course_lib.kernels import CpuKernel
from course_lib.run.result import RunResult


@dataclass(frozen=True, repr=False)
class CpuResult:
    """One program, one input, one answer.

    Attributes
    ----------
    kernel : CpuKernel
    parameters : dict
        Every parameter, defaults filled in.
    dtype : str
        "float32" or "float64".
    M, N, K, lda, ldb, ldc : int
        Sizes, and elements from one row to the next.
    C : (M, N) array
        The answer, without padding.
    stray_writes : int
        Elements between the rows of a padded C that the program wrote though they are none of its business.
    label : str
        "measured on <CPU>".
    built_by : str
        The compiler, Python or the library.
    threads : int or None
        How many computed; None when the library does not tell.
    time : Timing or None
        None when it was not asked for.
    warnings : tuple of Diagnostic
        Of the compiler.
    printed : str
        What the reader's own program printed in its first run.
    """

    kernel: CpuKernel
    parameters: dict[str, int]
    dtype: str
    M: int
    N: int
    K: int
    lda: int
    ldb: int
    ldc: int
    C: Any
    stray_writes: int
    label: str
    built_by: str
    threads: int | None
    time: Timing | None
    warnings: tuple = field(default=())
    printed: str = ""

    flops = RunResult.flops         # these read and look as for a kernel on the GPU
    gflops = RunResult.gflops
    __repr__ = RunResult.__repr__
    _repr_html_ = RunResult._repr_html_

    def rows(self):
        """Return the table as (what, value) pairs of strings."""
        return tuple(_rows(self))


def _rows(r):
    yield r.kernel.name, ", ".join(f"{name} = {value}" for name, value in r.parameters.items())
    yield "C", f"{r.M} × {r.N}, K = {r.K}, {r.dtype}, {r.label}"
    yield "built by", r.built_by
    if r.time:
        threads = "" if r.threads is None else f", {r.threads} thread{'s' * (r.threads != 1)}"
        yield "time", f"{r.time}, {r.gflops:.2f} GFLOP/s{threads}"
    if r.stray_writes:
        yield "padding of C", f"{r.stray_writes} elements between the rows were overwritten"
    if r.printed:
        yield "printed", r.printed
