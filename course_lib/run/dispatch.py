"""Choose the kernel by the size of the matrices, outside the kernel: what Wang and Jin had no chance to try.

Pure functions on records of `course_lib.bench` or `course_lib.data`: `fastest` makes the table, `best_for` asks it; `run_best` launches
what it answers.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias

from course_lib import data
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, Kernel, get
from course_lib.run.product import run
from course_lib.run.result import RunResult
from course_lib.run.types import Array

Variant: TypeAlias = tuple[str, tuple[tuple[str, int], ...]]           # name of a kernel, (name, value) of each parameter
Table: TypeAlias = Mapping[int, Mapping[Variant, float]]                # N -> variants -> GFLOP/s
RECORDED = ("tuned", "orders", "blocks", "wang", "ladder")     # files of course_lib/data that the default table is made from


class HasRecords(Protocol):
    """What holds records: a `Recording`, a `Sweep`."""

    @property
    def records(self) -> tuple[Record, ...]: ...


Records: TypeAlias = Iterable[Record] | HasRecords


@dataclass(frozen=True)
class KernelChoice:
    """A kernel and its parameters, and how fast it was, or is expected to be where nobody measured.

    Attributes
    ----------
    N
        The size for which it was chosen: √(M N).
    gflops
        10⁹ operations a second; recorded where `recorded`, else between the records of the next smaller and the next larger size.
    """

    kernel: str
    parameters: dict[str, int]
    N: float
    gflops: float
    recorded: bool

    def __str__(self):
        """Return the choice on one line."""
        values = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.kernel}({values}): {self.gflops:,.0f} GFLOP/s {'recorded' if self.recorded else 'expected'} at N = {self.N:.4g}"


def fastest(records: Records | None = None, dtype: str = "float32") -> tuple[KernelChoice, ...]:
    """Make the table: for each recorded size the kernel and the parameters that were fastest.

    Parameters
    ----------
    records
        Of products on square matrices; others, and what is not of the catalog (cuBLAS), are passed over. Default: what the
        course carries.
    dtype
        "float32" or "float64".

    Returns
    -------
    tuple
        Sizes ascending.

    >>> [choice.N for choice in fastest(dtype="float64")][:4]
    [256, 257, 329, 511]
    """
    table = _speeds(records, dtype)
    return tuple(_choice(table, N, (N, N, N)) for N in table)


def parts(records: Records | None = None, dtype: str = "float32") -> dict[Variant, dict[int, float]]:
    """Return what there is to choose from: (kernel, (name, value) of each parameter) -> {N: GFLOP/s}.

    Parameters
    ----------
    records, dtype
        As for `fastest`.

    >>> lines = parts()
    >>> all(best_for(N).gflops >= speed for line in lines.values() for N, speed in line.items())
    True
    """
    lines: dict[Variant, dict[int, float]] = {}
    for N, speeds in _speeds(records, dtype).items():
        for key, speed in speeds.items():
            lines.setdefault(key, {})[N] = speed
    return lines


def best_for(M: int, N: int | None = None, K: int | None = None, dtype: str = "float32", records: Records | None = None) -> KernelChoice:
    """Choose kernel and parameters for C[M, N] = A[M, K] B[K, N].

    At a recorded size that is what was fastest there, so it never loses to one of its parts. Between two sizes each kernel that was
    recorded at both is expected to have a speed between its two, along the logarithm of the size; beyond the last size, the last one's.
    A matrix that is not square counts as the square one with as many elements in C: their number decides how many blocks there are
    to keep the GPU busy, while K makes all kernels alike slower.

    Parameters
    ----------
    M, N, K
        N and K are as M where they are not given.
    dtype, records
        As for `fastest`.

    Raises
    ------
    CourseError
        For a size that is no whole number from 1 on, an element type, or records that hold no product.

    >>> best_for(1024) in fastest(), best_for(1200).recorded
    (True, False)
    """
    N, K = N or M, K or M
    asked: tuple[Any, ...] = (M, N, K)
    for name, value in zip("MNK", asked, strict=True):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise CourseError(f"{name} = {value!r}: a size is a whole number from 1 on")
    return _choice(_speeds(records, dtype), math.sqrt(M * N), (M, N, K))


def run_best(A: Array, B: Array, C: Array | None = None, *, records: Records | None = None, **options: Any) -> RunResult:
    """Compute C = alpha A B + beta C with the kernel that `best_for` chooses for these matrices.

    Parameters
    ----------
    A, B, C
        As for `run`; their element type, float32 or float64, decides which kernels are asked.
    records
        As for `fastest`: your own sweep, for your own GPU.
    **options
        As for `run`, but for parameters of a kernel.

    Returns
    -------
    RunResult
        Its `kernel` and `parameters` tell what was chosen.
    """
    a: tuple[int, ...] = getattr(A, "shape", ())
    b: tuple[int, ...] = getattr(B, "shape", ())
    if len(a) != 2 or len(b) != 2:
        raise CourseError("A and B are two-dimensional arrays: (M, K) and (K, N)")
    (M, K), (_, N) = a, b
    choice = best_for(M, N, K, str(A.dtype), records)
    return run(choice.kernel, A, B, C, **(options | choice.parameters))


def _choice(table: Table, size: float, shape: tuple[int, int, int]) -> KernelChoice:
    """Return the fastest entry at a size of the table, or expected between two."""
    sizes = tuple(table)
    below = max((N for N in sizes if size >= N), default=sizes[0])         # beyond the ends: the last one
    above = min((N for N in sizes if size <= N), default=sizes[-1])
    fraction = math.log(size / below) / math.log(above / below) if below < above else 0.0
    fits = {key: (1 - fraction) * speed + fraction * table[above][key] for key, speed in table[below].items()
            if key in table[above] and _can(get(key[0]), dict(key[1]), shape)}
    if not fits:
        raise CourseError(f"no kernel was recorded both at N = {below} and at N = {above} that can do {shape[0]} × {shape[1]} × {shape[2]}")
    kernel, values = max(fits, key=fits.__getitem__)
    return KernelChoice(kernel, dict(values), size, fits[kernel, values], set(shape) == {below})


def _can(kernel: Kernel, parameters: Mapping[str, int], shape: tuple[int, int, int]) -> bool:
    return not kernel.problems(**parameters) and kernel.sizes_of(*shape, kernel.check(**parameters)) is None


def _speeds(records: Records | None, dtype: str) -> Table:
    """Return {N: {(kernel, parameters): GFLOP/s}}, sizes ascending."""
    if dtype not in ("float32", "float64"):
        raise CourseError(f"dtype = {dtype!r}: the kernels compute in 'float32' or 'float64'")
    if records is None:
        return _carried(dtype)
    table: dict[int, dict[Variant, float]] = {}
    for r in records if isinstance(records, Iterable) else records.records:
        if r.gflops and _counts(r, dtype):
            here = table.setdefault(r.N, {})
            key = r.kernel, tuple(r.parameters.items())
            here[key] = max(r.gflops, here.get(key, 0.0))
    if not table:
        raise CourseError(f"the records hold no timed product of the catalog on square matrices of {dtype}: sweep over some kernels first")
    return {N: table[N] for N in sorted(table)}


@cache
def _carried(dtype: str) -> Table:
    return _speeds([r for name in RECORDED for r in data.load(name).records], dtype)


def _counts(r: Record, dtype: str) -> bool:
    """Say whether a record is of a launch as `run` makes it, with floats multiplied as they are: no tensor core chooses itself."""
    return (r.kernel in KERNELS and not get(r.kernel).inputs and r.dtype == dtype and r.M == r.N == r.K
            and r.state == "done" and r.backend == "gpu"
            and r.l2 == "warm" and not r.dynamic_shared and not r.grid
            and not any(r.parameters.get(name) for name in ("TRANSA", "TRANSB")))
