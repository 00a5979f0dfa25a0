"""Training without a GPU: arrays are NumPy's; products are NumPy's BLAS, or our kernels on the simulator."""

from typing import Any

import numpy as np

from course_lib.run import LaunchResult, run, run_unfused
from course_lib.training.network import Call, Layers


class HostLayers:
    """What happens between the products, in NumPy; each method returns the call that does it, in place."""

    @staticmethod
    def activate(H: np.ndarray, bias: np.ndarray) -> Call:
        """H = max(H + bias, 0)."""
        def call():
            np.add(H, bias, out=H)
            np.maximum(H, 0, out=H)
        return call

    @staticmethod
    def judge(Y: np.ndarray, bias: np.ndarray, labels: np.ndarray, D: np.ndarray, losses: np.ndarray) -> Call:
        """D = (softmax(Y + bias) - labels) / rows; losses = minus the logarithm of what softmax gives the label."""
        rows = np.arange(len(Y))

        def call():
            y = Y + bias
            largest = y.max(axis=1, keepdims=True)
            e = np.exp(y - largest)
            total = e.sum(axis=1, keepdims=True)
            losses[...] = np.log(total[:, 0]) + largest[:, 0] - y[rows, labels]
            np.divide(e, total, out=D)
            D[rows, labels] -= 1
            np.divide(D, len(Y), out=D)
        return call

    @staticmethod
    def gate(G: np.ndarray, H: np.ndarray) -> Call:
        """G = 0 where H is 0."""
        def call():
            G[~(H > 0)] = 0
        return call

    @staticmethod
    def lower(D: np.ndarray, bias: np.ndarray, rate: float) -> Call:
        """Subtract rate times the sum of D's columns from bias."""
        def call():
            bias[...] -= rate * D.sum(axis=0)
        return call


class Host:
    """This computer's memory, and NumPy's BLAS for the products; also in float64."""

    layers: Layers = HostLayers()
    label, measured = "NumPy's BLAS on this CPU", True

    @staticmethod
    def put(array: np.ndarray) -> np.ndarray:
        """Return a copy of a NumPy array here."""
        return np.array(array)

    fetch = put

    @staticmethod
    def copy(target: np.ndarray, source: np.ndarray) -> None:
        """Overwrite an array."""
        target[...] = source

    def wait(self) -> None:
        """Return when all is done, which it is."""

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def record(self, work: Call) -> Call:
        """Return what carries out the work again: the work."""
        return work

    def product(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Call:
        """Return the call that makes C = alpha op(A) op(B) + beta C."""
        a, b = (x.T if transpose else x for x, transpose in zip((A, B), transposed, strict=True))

        def call():
            if beta == 0:
                np.matmul(a, b, out=C)
                if alpha != 1:
                    np.multiply(C, alpha, out=C)
            else:
                C[...] = alpha * (a @ b) + beta * C
        return call


class Simulator(Host):
    """NumPy for all but the products: those are our kernels on the simulator, fused or separate.

    `launches` collects, product by product, which operands were transposed and the LaunchResults of its kernels.
    """

    label, measured = "simulated", False

    def __init__(self, products: str) -> None:
        self.fused = products == "fused"
        self.launches: list[tuple[tuple[bool, bool], tuple[LaunchResult, ...]]] = []

    def product(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Call:
        """Return the call that launches the kernels of C = alpha op(A) op(B) + beta C."""
        def call():
            given = C if beta else None
            if self.fused:
                fused = run("sgemm_op", A, B, given, alpha=alpha, beta=beta, backend="sim",
                            TRANSA=int(transposed[0]), TRANSB=int(transposed[1]))
                C[...] = fused.C
                self.launches.append((transposed, (fused,)))
            else:
                steps = run_unfused(A, B, given, alpha=alpha, beta=beta, transposed=transposed, backend="sim")
                C[...] = steps[-1].out
                self.launches.append((transposed, steps))
        return call
