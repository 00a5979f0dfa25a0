"""What an iteration consists of: its products' shapes, the share of its time that they take, and how many there are in a second."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from course_lib import gpu
from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.run import choose_backend
from course_lib.run.stopwatch import time_call
from course_lib.run.types import Array
from course_lib.toolchain.host_cpu import blas_threads
from course_lib.training.digits import Digits, digits
from course_lib.training.loop import KINDS, LAP, LONGEST, choose, place, speed
from course_lib.training.network import PRODUCTS, Call, Network, Place, Product, Setting

FLOATS_A_SECTOR = 8


@dataclass(frozen=True)
class Gemm:
    """One product of a step with its sizes: C (M × N) = op(A) (M × K) op(B) (K × N)."""

    product: Product
    M: int
    N: int
    K: int

    @property
    def multiply_adds(self) -> int:
        """Return M N K."""
        return self.M * self.N * self.K

    @property
    def least_sectors(self) -> int:
        """Return the sectors of 32 bytes that hold A, B and C, each moved once; C twice when it is updated. Modelled."""
        moved = (self.M * self.K, self.K * self.N, *[self.M * self.N] * (2 if self.product.updates else 1))
        return sum(-(-floats // FLOATS_A_SECTOR) for floats in moved)

    @property
    def saved_sectors(self) -> int:
        """Return what the fused kernel saves: transposed operands and the bare product, each written once and read once. Modelled."""
        transposed = ((self.M * self.K) * self.product.transposed[0], (self.K * self.N) * self.product.transposed[1], self.M * self.N)
        return sum(2 * -(-floats // FLOATS_A_SECTOR) for floats in transposed)


def gemms(setting: Setting | None = None, formulas: Iterable[Product] = PRODUCTS) -> tuple[Gemm, ...]:
    """Return the Gemm of each product of a step.

    >>> [(g.product.letters, g.M, g.N, g.K) for g in gemms(Setting(hidden=128, batch=32))]
    [('TT', 32, 128, 64), ('NT', 32, 10, 128), ('NN', 32, 128, 10), ('TN', 10, 128, 32), ('TT', 128, 64, 32)]
    """
    setting = setting or Setting()
    return tuple(Gemm(p, *p.sizes(setting)) for p in formulas)


@dataclass(frozen=True)
class Parts:
    """Seconds of an iteration, and of one whose products are left out; `label` says where they were measured."""

    products: str
    label: str
    setting: Setting
    whole_s: float
    rest_s: float

    @property
    def share(self) -> float:
        """Return the products' share of the time, 0 to 1."""
        return min(1.0, max(0.0, 1 - self.rest_s / self.whole_s))


def parts(products: str = "library", *, backend: str | None = None, setting: Setting | None = None, data: Digits | None = None,
          budget_s: float = 0.2) -> Parts:
    """Measure an iteration with and without its products; the rest is the batch's copy, activation, loss and biases.

    Parameters
    ----------
    products, backend, setting, data
        As for `train`. On a GPU a CUDA graph replays the step; on the CPU the BLAS has one thread: several may hinder each
        other.
    budget_s
        About how long to measure each.

    Raises
    ------
    CourseError
        On the simulator, whose time says nothing about a GPU.

    >>> found = parts(backend="cpu", setting=Setting(hidden=16, batch=16), budget_s=0.01)
    >>> found.whole_s > 0, found.rest_s > 0, 0 <= found.share <= 1
    (True, True, True)
    """
    backend, setting, data = choose(products, backend), setting or Setting(), data or digits()
    if backend == "sim":
        raise CourseError("the simulator's time says nothing about a GPU: take backend='cpu' and products='library'")
    where = place(products, backend)
    network = Network(setting, where)
    pictures, labels = next(islice(data.batches(setting.batch, setting.seed), 1))
    batch = where.put(np.asarray(pictures, np.float32)), where.put(labels)
    rest = [call for name, call in network.calls if name not in {p.text for p in network.formulas}]

    def others():
        for call in rest:
            call()
    cpu = backend == "cpu"
    with where, blas_threads(1) if cpu else nullcontext():
        network.load(*batch)
        network.step()                      # the products that are then left out have values, no NaN
        whole, rest_s = (_seconds(where, network, batch, work, budget_s) for work in (network.step, others))
    return Parts(products, where.label + ", one thread" * cpu, setting, whole, rest_s)


def _seconds(where: Place, network: Network, batch: tuple[Array, Array], work: Call, budget_s: float) -> float:
    """Return the median seconds of laying a batch in place and working on it."""
    def laps(step: Call, count: int) -> None:
        for _ in range(count):
            network.load(*batch)
            step()
        where.wait()
    laps(work, 2)
    one = time_call(lambda: laps(work, 1), repeats=1, budget_s=0.0).median_s
    count = max(1, min(LAP, int(LONGEST / one)))
    step = where.record(work)
    return time_call(lambda: laps(step, count), budget_s=budget_s).median_s / count


def rates(settings: Sequence[Setting] | None = None, *, budget_s: float = 0.2) -> tuple[tuple[dict[str, Any], ...], str]:
    """Return iterations a second of each choice of products: measured where a GPU works, else recorded on one.

    Parameters
    ----------
    settings
        Default those that were recorded.
    budget_s
        About how long to measure each.

    Returns
    -------
    rows, label
        Rows as `plots.iterations` takes them, a CUDA graph a step; and where they are from.
    """
    recorded = readings("training")
    rows = recorded.find(what="speed", backend="gpu", graph=True)
    if choose_backend() != "gpu":
        wanted = None if settings is None else {(s.hidden, s.batch) for s in settings}
        return tuple(r for r in rows if wanted is None or (r["hidden"], r["batch"]) in wanted), recorded.label
    if settings is None:
        settings = tuple(dict.fromkeys(Setting(r["hidden"], r["batch"]) for r in rows))
    found = [speed(products, backend="gpu", setting=s, graph=True, budget_s=budget_s) for s in settings for products in KINDS]
    return tuple({"products": f.products, "backend": "gpu", "hidden": f.setting.hidden, "batch": f.setting.batch, "per_s": f.per_s,
                  "low": f.low, "high": f.high} for f in found), f"measured on {gpu.probe().name}"
