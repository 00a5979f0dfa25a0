"""What one run of a program on the CPU gave: the answer, how long it took, and with which compiler or library."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.gpu import Timing
from course_lib.kernels import CpuKernel
from course_lib.run.result import RunResult
from course_lib.run.types import Rows
from course_lib.toolchain.diagnostics import Diagnostic


@dataclass(frozen=True, repr=False)
class CpuResult:
    """One program, one input, one answer.

    Attributes
    ----------
    parameters
        Every parameter, defaults filled in.
    dtype
        "float32" or "float64".
    M, N, K, lda, ldb, ldc
        Sizes, and elements from one row to the next.
    C
        (M, N); the answer, without padding.
    stray_writes
        Elements between the rows of a padded C that the program wrote though they are none of its business.
    label
        "measured on <CPU>".
    built_by
        The compiler, Python or the library.
    threads
        How many computed; None when the library does not tell.
    time
        None when it was not asked for.
    warnings
        Of the compiler.
    printed
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
    C: np.ndarray
    stray_writes: int
    label: str
    built_by: str
    threads: int | None
    time: Timing | None
    warnings: tuple[Diagnostic, ...] = ()
    printed: str = ""

    __repr__ = RunResult.__repr__       # they look as for a kernel on the GPU
    _repr_html_ = RunResult._repr_html_

    @property
    def flops(self) -> int:
        """Return the floating-point operations of the product, 2 M N K."""
        return self.kernel.flops(self.M, self.N, self.K)

    @property
    def gflops(self) -> float | Any:        # as `LaunchResult.count` is typed
        """Return 10**9 floating-point operations per second, or None when no time was asked for."""
        return self.flops / self.time.median_s / 1e9 if self.time else None

    def rows(self) -> Rows:
        """Return the table as (what, value) pairs of strings."""
        return tuple(_rows(self))


def _rows(r: CpuResult) -> Iterator[tuple[str, str]]:
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
