"""Measure one task on the GPU: inputs that stay there, time, then a fresh launch whose answer is checked."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from course_lib import gpu, toolchain
from course_lib.bench.tasks import Task
from course_lib.errors import CourseError
from course_lib.gpu import Timing
from course_lib.kernels import Kernel, get
from course_lib.kernels.kernel import ceil_div
from course_lib.model.number_formats import BITS, from_e4m3, round_to, scaled_parts, to_e4m3
from course_lib.run.accuracy import Mismatch, mismatch, tolerance
from course_lib.run.copies import needed
from course_lib.run.inputs import PAIRS, WHOLE_ROWS, factor_map
from course_lib.run.product import OUTPUT_WITH_MAPS
from course_lib.run.types import Array
from course_lib.toolchain.compiled import Compiled

# A launch: arguments, which of them is written, constants, what the grid covers, and what says in a sentence what is wrong with the result.
Prepared: TypeAlias = tuple[list[Any], int, Mapping[str, np.ndarray] | None, tuple[int, ...], Callable[[Array], str | None]]
SMALL = 2**27            # multiply-adds up to which NumPy computes the reference, on the CPU
COLUMNS = 2**15          # of what a strided copy reads, as it is made
PROBES = 8               # columns of random numbers that the large reference is held to


def measure(task: Task) -> dict[str, Any]:
    """Return the fields of a record that a measurement on the GPU fills: times, samples, whether the answer was right."""
    options: dict[str, Any] = {"budget_s": task.budget_s, "cold": task.l2 == "cold"}
    if task.kind == "copy":
        return _copy(task, options)
    if task.kernel == "cuBLAS":
        return _library(task, options)
    kernel = get(task.kernel)
    status = gpu.probe()
    kernel.refuse(status.cc or (0, 0), status.name)
    compiled = _compiled(task.kernel, tuple(sorted(task.parameters.items())), status.arch)
    make = {"vectors": _vectors, "transpose": _moved, "sum": _moved, "gather": _gathered}.get(task.kind, _product)
    arguments, output, constants, covered, check = make(task, kernel)
    grid, block = task.grid or kernel.grid(*covered, **task.parameters), kernel.block(**task.parameters)
    more: dict[str, Any] = {"constants": constants, "dynamic_shared": task.dynamic_shared + kernel.dynamic_bytes(**task.parameters)}
    time = gpu.time_kernel(compiled, kernel.entry, grid, block, arguments, **(more | options))
    arguments[output][...] = np.nan          # what the timed launches left is no proof that this kernel writes every element
    gpu.launch(compiled, kernel.entry, grid, block, arguments, **more)
    return times(time) | answer(check(arguments[output]))


def times(time: Timing | None) -> dict[str, Any]:
    """Return the fields of a record that a `Timing` fills; none without one, as of a program that prints."""
    if time is None:
        return {}
    return {"median_s": time.median_s, "low_s": time.low_s, "high_s": time.high_s, "repeats": time.repeats, "graph": time.graph}


def answer(wrong: str | Mismatch | None) -> dict[str, Any]:
    """Return the fields of a record that say whether an answer was right; `wrong`: what is wrong with it, or None."""
    return {"correct": wrong is None, "problem": "" if wrong is None else f"the answer is wrong: {wrong}"}


@lru_cache(maxsize=512)
def _compiled(name: str, parameters: tuple[tuple[str, int], ...], arch: str) -> Compiled:
    kernel = get(name)
    return toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=arch, defines=kernel.defines(**dict(parameters)))


class ProductInputs:
    """A and B of one size on the GPU, and the product in float64 with the size of its terms, once somebody asks.

    Small ones are multiplied by NumPy on the CPU. Large ones by the library in float64 on the GPU, and that is itself held to
    A (B X) for a few random columns X, which another routine of the library computes in another order. `rounded` names the format,
    "bf16" or "e4m3", to which A and B are rounded before, "" for none.
    """

    def __init__(self, M: int, N: int, K: int, dtype: str, rounded: str = "") -> None:
        rng = np.random.default_rng(M + N + K)
        self.K, self.dtype, self.small = K, np.dtype(dtype), M * N * K <= SMALL
        A, B = (rng.standard_normal(shape, self.dtype) for shape in ((M, K), (K, N)))
        if rounded:
            A, B = (from_e4m3(to_e4m3(x)) if rounded == "e4m3" else round_to(x, rounded) for x in (A, B))
        self.A, self.B = gpu.to_device(A), gpu.to_device(B)
        self.host = (A, B) if self.small else None
        self._exact: tuple[Array, Array] | None = None

    def check(self, C: Array, inputs: str = "") -> str | None:
        """Return a sentence on the worst element of a product on the GPU, or None when all are right.

        `inputs`: to what the kernel rounds A and B, `Kernel.inputs`.
        """
        if self.host is not None:
            worst = mismatch(gpu.to_host(C), *self.host, inputs=inputs)
            return None if worst is None else str(worst)
        exact, size = self.exact()
        excess = abs(C.astype(np.float64) - exact) / (
            (tolerance(self.K, self.dtype, inputs) + tolerance(self.K, np.float64)) * size + self.K * float(np.finfo(self.dtype).tiny))
        wrong = ~(excess <= 1)               # NaN is wrong
        count = int(wrong.sum())
        return f"{count} of {C.size} elements are outside what rounding explains" if count else None

    def exact(self) -> tuple[Array, Array]:
        """Return the product in float64, and the sum of the absolute values of each element's terms."""
        if self._exact is None:
            A, B = self.A.astype(np.float64), self.B.astype(np.float64)
            product = A @ B
            probes = gpu.to_device(np.random.default_rng(1).standard_normal((B.shape[1], PROBES)))
            missed = abs(product @ probes - A @ (B @ probes))
            if not bool((missed <= 4 * tolerance(self.K, np.float64) * (abs(A) @ (abs(B) @ abs(probes)))).all()):
                raise CourseError("the library's float64 product, which is the reference here, is itself wrong")
            self._exact = product, abs(A) @ abs(B)
        return self._exact


@lru_cache(maxsize=2)
def inputs(M: int, N: int, K: int, dtype: str) -> ProductInputs:
    """Return the `ProductInputs` of a size; the last two are cached on the GPU."""
    return ProductInputs(M, N, K, dtype)


def _empty(rows: int, cols: int, dtype: DTypeLike) -> Array:
    return gpu.to_device(np.full((rows, cols), np.nan, dtype))


def _product(task: Task, kernel: Kernel) -> Prepared:
    """Arguments of C = A B, as rows or as columns."""
    there, (M, N, K) = inputs(task.M, task.N, task.K, task.dtype), (task.M, task.N, task.K)
    transposed = [bool(task.parameters.get(name)) != (kernel.layout == "column") for name in ("TRANSA", "TRANSB")]
    A, B = (x.T.copy() if transpose else x for x, transpose in zip((there.A, there.B), transposed, strict=True))
    C = _empty(*((N, M) if kernel.layout == "column" else (M, N)), task.dtype)
    if kernel.result:
        raise CourseError(f"{kernel.name} stores C as {BITS[kernel.result].name}: the race measures it, with --warpgroups, and no sweep")
    lda, ldb, ldc = (np.int32(x.shape[1]) for x in (A, B, C))
    more: list[Any] = []
    if kernel.stored == "bf16x3":
        parts, shifts = zip(*(scaled_parts(gpu.to_host(x), axis) for x, axis in ((A, 1), (B, 0))), strict=True)
        more = [*map(gpu.to_device, shifts), A, lda, B, ldb]
        A, B = (_aligned(x, WHOLE_ROWS) for x in parts)
    elif kernel.stored:
        A, B = (_as_stored(x, kernel) for x in (A, B))
    real = np.dtype(task.dtype).type
    if kernel.boxes:
        C = _empty(M, ceil_div(N, PAIRS) * PAIRS, task.dtype)
        maps = (factor_map(x, box) for x, box in zip((A, B), kernel.boxes, strict=True))
        return ([np.int32(M), np.int32(N), np.int32(K), real(1), *maps, real(0), C, np.int32(C.shape[1]), *more], OUTPUT_WITH_MAPS, None,
                (M, N), lambda C: there.check(C[:, :N], kernel.inputs))
    if task.kind == "multiply":
        arguments, output = [np.int32(M), np.int32(N), np.int32(K), A, lda, B, ldb, C, ldc], 7
    else:
        arguments, output = [np.int32(M), np.int32(N), np.int32(K), real(1), A, lda, B, ldb, real(0), C, ldc], 9
    arguments += [gpu.to_device(np.zeros(count, dtype)) for dtype, count in kernel.workspace(**task.parameters)]
    return arguments, output, None, (M, N), lambda C: there.check(C.T if kernel.layout == "column" else C, kernel.inputs)


def _as_stored(values: Array, kernel: Kernel) -> Array:
    """Return a matrix on the GPU in the format in which a kernel wants it; rows begin at multiples of 16 bytes where a tensor map asks."""
    bits = BITS[kernel.stored]
    return _aligned(bits.make(gpu.to_host(values)), bits.whole_rows if kernel.boxes else 1)


def _aligned(bits: Array, multiple: int) -> Array:
    """Return an array on the GPU, each row of which begins a multiple of so many elements behind the one before."""
    cols = bits.shape[-1]
    return gpu.to_device(np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, -cols % multiple)]))[..., :cols]


def _moved(task: Task, kernel: Kernel) -> Prepared:
    """Arguments of a transposition, or of alpha P + beta C with alpha 1 and beta 0."""
    rows, cols = task.M, task.N
    P = gpu.to_device(np.random.default_rng(rows).standard_normal((rows, cols), np.float32))
    if task.kind == "transpose":
        out = _empty(cols, rows, np.float32)
        arguments, output, right = [np.int32(rows), np.int32(cols), P, np.int32(cols), out, np.int32(rows)], 4, P.T
    else:
        out = _empty(rows, cols, np.float32)
        arguments, output, right = [np.int32(rows), np.int32(cols), np.float32(1), P, np.int32(cols), np.float32(0), out,
                                    np.int32(cols)], 6, P
    return arguments, output, None, (rows, cols), lambda out: None if bool((out == right).all()) else "an element is not in its place"


def _gathered(task: Task, kernel: Kernel) -> Prepared:
    """Arguments of a strided copy. What it reads may be gigabytes, so it is made on the GPU: a sum of two short random arrays."""
    n, (stride, offset, VEC) = task.N, (task.parameters[name] for name in ("stride", "offset", "VEC"))
    count, rng = needed(n, stride, offset, VEC), np.random.default_rng(n)
    rows, columns = (gpu.to_device(rng.standard_normal(size, np.float32)) for size in (-(-count // COLUMNS), COLUMNS))
    values = (rows[:, None] + columns).ravel()[:count]
    out = gpu.to_device(np.full(n, np.nan, np.float32))

    def check(out: Array) -> str | None:
        taken = ((out[v::VEC], values[offset + v::stride * VEC]) for v in range(VEC))
        return None if all(bool((part == there[:len(part)]).all()) for part, there in taken) else "an element is not the one to copy"
    return [np.int32(n), values, np.int32(offset), np.int32(stride), out], 4, None, (n,), check


def _vectors(task: Task, kernel: Kernel) -> Prepared:
    """Arguments of one matrix times many vectors, which is a product whose A are the vectors."""
    S, M, N = task.N, task.parameters["M"], task.parameters["N"]
    there = inputs(S, M, N, "float32")
    matrix = np.ascontiguousarray(gpu.to_host(there.B).T)
    return [np.int32(S), there.A, _empty(S, M, np.float32)], 2, {"matrix": matrix}, (S,), there.check


def _library(task: Task, options: dict[str, Any]) -> dict[str, Any]:
    there, C = inputs(task.M, task.N, task.K, task.dtype), _empty(task.M, task.N, task.dtype)
    time = gpu.time_product(there.A, there.B, C, **options)
    return times(time) | answer(there.check(C))


def _copy(task: Task, options: dict[str, Any]) -> dict[str, Any]:
    source = gpu.to_device(np.random.default_rng(1).standard_normal((task.M, task.N), np.dtype(task.dtype)))
    target = _empty(task.M, task.N, task.dtype)
    time = gpu.time_copy(source, target, **options)
    return times(time) | answer(None if bool((source == target).all()) else "the copy differs")
