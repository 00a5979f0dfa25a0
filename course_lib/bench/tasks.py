"""One measurement to make: a kernel, a problem, parameters, where to run. Plain data, so that any process can carry it out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.kernels import CPU_KERNELS, KERNELS, Kernel, cpu_kernel, get
from course_lib.kernels.kernel import STORED
from course_lib.run import choose_backend

Identity: TypeAlias = tuple[Any, ...]        # `Record.identity`
LIBRARY, COPY = "cuBLAS", "copy"
BACKENDS = ("gpu", "sim", "cpu")
L2_STATES = ("warm", "cold")
KINDS = ("product", "multiply", "sum", "transpose", "vectors", "gather")
SIZES = {"float32": 4, "float64": 8}


@dataclass(frozen=True)
class Task:
    """What to measure.

    Attributes
    ----------
    kernel
        A name of the catalog, "cuBLAS" or "copy".
    M, N, K
        As in a `Record`.
    parameters
        All of them, defaults filled in.
    kind, dtype, backend, l2, source, dynamic_shared, grid
        As in a `Record`.
    budget_s
        About how long to measure.
    problem
        Why these parameters cannot run; empty when they can.
    """

    kernel: str
    M: int
    N: int
    K: int
    parameters: dict[str, int]
    kind: str = "product"
    dtype: str = "float32"
    backend: str = "gpu"
    l2: str = "warm"
    source: str = ""
    dynamic_shared: int = 0
    grid: tuple[int, ...] = ()
    budget_s: float = field(default=1.0, compare=False)
    problem: str = ""

    def record(self, **found: Any) -> Record:
        """Return the record of this task with what was found."""
        chosen = ("kernel", "M", "N", "K", "parameters", "kind", "dtype", "backend", "l2", "source", "dynamic_shared", "grid")
        return Record(**{name: getattr(self, name) for name in chosen} | found)

    @property
    def identity(self) -> Identity:
        """Return what tells this measurement from others; see `Record.identity`."""
        return self.record().identity

    @property
    def flops(self) -> int:
        """Return the floating-point operations, a multiply-add as two; 0 where there are none."""
        M, N, K = self.M, self.N, self.K
        return {"product": 2 * M * N * K, "multiply": 2 * M * N * K, "sum": M * N, "transpose": 0, "copy": 0, "gather": 0,
                "vectors": 2 * N * self.parameters.get("M", 0) * self.parameters.get("N", 0)}[self.kind]

    @property
    def bytes(self) -> int:
        """Return the bytes that must be read and written at least: every operand once, the result once."""
        M, N, K, size = self.M, self.N, self.K, SIZES[self.dtype]
        factor, result = size, size
        if kernel := KERNELS.get(self.kernel):
            factor, result = kernel.factor_bytes, STORED.get(kernel.result, size)
        product = factor * (M * K + K * N) + result * M * N
        return {"product": product, "multiply": product, "sum": 2 * size * M * N, "transpose": 2 * size * M * N,
                "copy": 2 * size * M * N, "gather": 2 * size * N,
                "vectors": size * N * (self.parameters.get("M", 0) + self.parameters.get("N", 0))}[self.kind]


def task(kernel: str, size: int | tuple[int, int, int], parameters: Mapping[str, int] | None = None, *, backend: str | None = None,
         l2: str = "warm", budget_s: float = 1.0, dtype: str | None = None, dynamic_shared: int = 0, grid: tuple[int, ...] = ()) -> Task:
    """Describe one measurement; parameters that cannot run make a task with a `problem` and no exception.

    Parameters
    ----------
    kernel
        A name of the catalog of kernels or of CPU programs, "cuBLAS" or "copy".
    size
        (M, N, K), or one number: of square matrices; for kernels of many vectors their number, for the strided copy the floats that it
        copies.
    parameters
        The others keep their defaults.
    backend
        "gpu", "sim" or "cpu". Default "cpu" for a CPU program, else as for `run`.
    l2
        "warm" or "cold".
    dtype
        "float32" or "float64". For CPU programs, the library and the copy; a kernel has its own.
    dynamic_shared, grid
        As in a `Record`; on a GPU.

    Raises
    ------
    CourseError
        For a name, a size, a backend or an L2 state that does not exist.

    >>> task("sgemm_naive", 64, {"bx": 64, "by": 64}, backend="sim").problem.partition(",")[0]
    'bx × by = 64 × 64 = 4096 threads a block'
    """
    backend, dtype = _backend(kernel, backend), dtype or "float32"
    if l2 not in L2_STATES:
        raise CourseError(f"l2 = {l2!r}: the L2 is 'warm' or 'cold' before a sample")
    if dtype not in SIZES:
        raise CourseError(f"dtype = {dtype!r}: the kernels compute in 'float32' or 'float64'")
    sizes: dict[str, Any] = dict(zip("MNK", size if isinstance(size, tuple) else (size, size, size), strict=True))
    parameters = dict(parameters or {})
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise CourseError(f"{name} = {value!r}: a size is a whole number from 1 on, or three of them, (M, N, K)")
    rest: dict[str, Any] = {"backend": backend, "l2": l2 if backend == "gpu" else "warm", "budget_s": budget_s,
            "dynamic_shared": dynamic_shared if backend == "gpu" else 0, "grid": tuple(grid) if backend == "gpu" else ()}
    if kernel in (LIBRARY, COPY):
        return Task(kernel, **sizes, parameters={}, kind="copy" if kernel == COPY else "product", dtype=dtype, **rest)
    described = cpu_kernel(kernel) if backend == "cpu" else get(kernel)
    if isinstance(described, Kernel) and described.kind not in KINDS:
        raise CourseError(f"{kernel} is of kind {described.kind!r}, and a sweep measures {', '.join(KINDS)}", kernel=kernel)
    wrong = described.problems(**parameters)
    values = {p.name: parameters.get(p.name, p.default) for p in described.parameters} | parameters
    if not wrong and isinstance(described, Kernel):
        wrong = tuple(filter(None, [described.sizes_of(*(sizes[s] for s in "MNK"), values)]))
        dtype, rest["kind"] = described.dtype, described.kind
    return Task(kernel, **sizes, parameters=values, dtype=dtype, source=fingerprint_of(described),
                problem="; ".join(wrong), **rest)


def _backend(kernel: str, asked: str | None) -> str:
    """Return where a kernel runs."""
    if asked not in (None, *BACKENDS):
        raise CourseError(f"backend = {asked!r}: a sweep runs on 'gpu', 'sim' or 'cpu'", backend=asked)
    if kernel in CPU_KERNELS:
        if asked in ("gpu", "sim"):
            raise CourseError(f"{kernel} is a program for the CPU: leave the backend out, or say 'cpu'", backend=asked)
        return "cpu"
    if asked == "cpu":
        raise CourseError(f"{kernel} is no program for the CPU; those are {', '.join(CPU_KERNELS)}", backend=asked)
    return asked or choose_backend()
