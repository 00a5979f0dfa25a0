"""Training on a GPU: all arrays stay there; products are our kernels, fused or separate, or cuBLAS's."""

from pathlib import Path
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.kernels import get
from course_lib.kernels.kernel import ceil_div
from course_lib.run.types import Array
from course_lib.training.network import Call

THREADS = 256       # of a block that works element by element


class GpuLayers:
    """The kernels of layers.cu; each method returns the call that launches one."""

    def __init__(self, queue: gpu.Queue) -> None:
        self.queue, self.source = queue, Path(__file__).with_name("layers.cu")
        self.compiled = toolchain.compile_cuda(self.source.read_text(encoding="utf-8"), name=self.source.name, arch=gpu.probe().arch)

    def _bind(self, entry: str, grid: int, block: int | tuple[int, int], matrix: Array, *arguments: Any) -> Call:
        rows, cols = matrix.shape
        return self.queue.bind(self.compiled, entry, grid, block, (np.int32(rows), np.int32(cols), *arguments))

    def activate(self, H: Array, bias: Array) -> Call:
        """H = max(H + bias, 0)."""
        return self._bind("activate", ceil_div(H.size, THREADS), THREADS, H, H, bias)

    def judge(self, Y: Array, bias: Array, labels: Array, D: Array, losses: Array) -> Call:
        """D = (softmax(Y + bias) - labels) / rows; losses = minus the logarithm of what softmax gives the label."""
        return self._bind("judge", ceil_div(len(Y), 32), 32, Y, Y, bias, labels, D, losses)

    def gate(self, G: Array, H: Array) -> Call:
        """G = 0 where H is 0."""
        return self._bind("gate", ceil_div(G.size, THREADS), THREADS, G, G, H)

    def lower(self, D: Array, bias: Array, rate: float) -> Call:
        """Subtract rate times the sum of D's columns from bias."""
        return self._bind("lower", ceil_div(D.shape[1], 32), (32, 32), D, np.float32(rate), D, bias)


class OnGpu:
    """The GPU's memory and one queue of work; float32 alone.

    Parameters
    ----------
    products
        "fused", "separate" or "library".
    """

    measured = True

    def __init__(self, products: str) -> None:
        self.queue = gpu.Queue()
        self.layers, self.label = GpuLayers(self.queue), f"measured on {gpu.probe().name}"
        self.product = {"fused": self._fused, "separate": self._separate, "library": self._library}[products]

    @staticmethod
    def put(array: np.ndarray) -> Array:
        """Return a copy of a NumPy array there."""
        return gpu.to_device(array)

    @staticmethod
    def fetch(array: Array) -> np.ndarray:
        """Return a copy here."""
        return gpu.to_host(array)

    def copy(self, target: Array, source: Array) -> None:
        """Overwrite an array there, from there or from here."""
        self.queue.copy(target, source)

    def wait(self) -> None:
        """Return when all the work is done."""
        self.queue.wait()

    def __enter__(self) -> "OnGpu":
        self.queue.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.queue.__exit__(*error)

    def record(self, work: Call) -> Call:
        """Return what carries out the work again, from a CUDA graph."""
        return self.queue.record(work)

    def _bind(self, name: str, covered: tuple[int, int], arguments: tuple[Any, ...], **values: int) -> Call:
        kernel = get(name)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=gpu.probe().arch, defines=kernel.defines(**values))
        return self.queue.bind(compiled, kernel.entry, kernel.grid(*covered, **values), kernel.block(**values), arguments)

    def _library(self, A: Array, B: Array, C: Array, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Call:
        return self.queue.bind_library(A, B, C, alpha, beta, transposed)

    def _fused(self, A: Array, B: Array, C: Array, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Call:
        (M, N), K = C.shape, A.shape[0 if transposed[0] else 1]
        arguments = (*map(np.int32, (M, N, K)), np.float32(alpha), A, _ld(A), B, _ld(B), np.float32(beta), C, _ld(C))
        return self._bind("sgemm_op", (M, N), arguments, TRANSA=int(transposed[0]), TRANSB=int(transposed[1]))

    def _separate(self, A: Array, B: Array, C: Array, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Call:
        calls, operands = [], []
        for X, transpose in zip((A, B), transposed, strict=True):
            if transpose:
                rows, cols = X.shape
                there = self._scratch(cols, rows)
                calls.append(self._bind("transpose", (rows, cols), (np.int32(rows), np.int32(cols), X, _ld(X), there, _ld(there))))
                X = there
            operands.append(X)
        (M, K), N = operands[0].shape, operands[1].shape[1]
        P = self._scratch(M, N)
        factors = [argument for X in operands for argument in (X, _ld(X))]
        calls.append(self._bind("sgemm_multiply", (M, N), (*map(np.int32, (M, N, K)), *factors, P, _ld(P))))
        arguments = (np.int32(M), np.int32(N), np.float32(alpha), P, _ld(P), np.float32(beta), C, _ld(C))
        calls.append(self._bind("matrix_sum", (M, N), arguments))

        def call():
            for launch in calls:
                launch()
        return call

    @staticmethod
    def _scratch(rows: int, cols: int) -> Array:
        return gpu.to_device(np.full((rows, cols), np.nan, np.float32))


def _ld(array: Array) -> np.int32:
    return np.int32(array.shape[1])
