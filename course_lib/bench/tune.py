"""Tune a kernel: for each product the fastest of about a hundred combinations of parameters, most of them pruned by a bound before.

`plan` lists the tasks of a product in the order of their bounds, `tune` has `sweep` carry them out, and a `BoundPruner` leaves out those
whose bound is above the best time so far. On the simulator there is no time: then the modelled least time stands for it.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from course_lib import gpu
from course_lib.arch import DEFAULT_DEVICE, DEVICES, Device
from course_lib.bench.compiling import compile_texts
from course_lib.bench.least import least_seconds, modelled_seconds
from course_lib.bench.sweep import Sweep, sweep
from course_lib.bench.tasks import Identity, Task, task
from course_lib.bench.tiles import combinations
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.run import choose_backend

Product: TypeAlias = tuple[int, int, int, int, int]        # M, N, K, TRANSA, TRANSB
BUDGET_S = 0.05            # about how long to measure one combination
MODELLED = "modelled, not measured"


def product_of(one: Task | Record) -> Product:
    """Return which product a task or a record is of."""
    return one.M, one.N, one.K, one.parameters.get("TRANSA", 0), one.parameters.get("TRANSB", 0)


def plan(kernel: str, sizes: tuple[int, int, int], transposed: tuple[bool, bool] = (False, False), *, on: Device = DEFAULT_DEVICE,
         backend: str | None = None, budget_s: float = BUDGET_S) -> list[Task]:
    """Return the tasks of one product, the smallest bound first.

    Parameters
    ----------
    kernel
        A kernel of kind "product".
    sizes, transposed
        M, N and K; whether A and B are stored transposed.
    on
        Device of the bounds.
    backend, budget_s
        As for `task`.

    Raises
    ------
    CourseError
        When the kernel computes no product, or none of the combinations can do this one.

    >>> found = plan("sgemm_stream_k", (512, 512, 512), backend="gpu")
    >>> 50 < len(found) <= 120
    True
    """
    if get(kernel).kind != "product":
        raise CourseError(f"{kernel} computes no product C = A B: tune one of those that do", kernel=kernel)
    found = combinations(kernel, sizes, on, transposed)
    if not found:
        raise CourseError(f"no combination of parameters lets {kernel} multiply {' × '.join(map(str, sizes))} with operands "
                          f"{''.join('NT'[t] for t in transposed)}", kernel=kernel)
    tasks = [task(kernel, sizes, p, backend=backend, budget_s=budget_s) for p in found]
    return sorted(tasks, key=lambda one: least_seconds(one, on))


class BoundPruner:
    """Prunes what the model says to be slower, at best, than something that was measured for the same product.

    Parameters
    ----------
    bounds
        Seconds at least, by the identity of a task.
    on
        Device of the model, for records of the simulator.
    at_once
        How many tasks an executor has at a time.
    """

    def __init__(self, bounds: Mapping[Identity, float], on: Device = DEFAULT_DEVICE, at_once: int = 1) -> None:
        self.bounds, self.on, self.at_once = bounds, on, at_once
        self.best: dict[Product, float] = {}

    def learn(self, record: Record) -> None:
        """Keep the best time of the record's product."""
        if seconds := time_of(record, self.on):
            product = product_of(record)
            self.best[product] = min(seconds, self.best.get(product, math.inf))

    def reason(self, task: Task) -> str:
        """Return why a task cannot be the fastest, or nothing."""
        bound, best = self.bounds.get(task.identity, 0.0), self.best.get(product_of(task), math.inf)
        return f"it takes at least {1e6 * bound:.2f} µs by the model, and {1e6 * best:.2f} µs are reached" if bound > best else ""


def device_here() -> Device:
    """Return the GPU of this machine, by the name that the device table has for it: what was measured on a device is found by that name."""
    live = gpu.live_device()
    short = live.name.removeprefix("NVIDIA ")
    return replace(live, name=short) if short in DEVICES else live


def time_of(record: Record, on: Device = DEFAULT_DEVICE) -> float | None:
    """Return the measured seconds of a record; of one from the simulator the modelled least seconds; None of what has neither."""
    if record.state != "done":
        return None
    return record.median_s if record.backend == "gpu" else modelled_seconds(record, on)


@dataclass(frozen=True)
class Tuned:
    """What tuning gave.

    Attributes
    ----------
    found
        The sweep.
    bounds
        Seconds at least, by the identity of a record.
    on
        Device of the model.
    elapsed_s
        Wall time of the sweep.
    """

    found: Sweep
    bounds: Mapping[Identity, float] = field(repr=False)
    on: Device
    elapsed_s: float

    @property
    def best(self) -> dict[Product, Record]:
        """Return the fastest record of each product, products in their order."""
        best: dict[Product, Record] = {}
        for record in self.found.done:
            there = best.get(product_of(record))
            if there is None or (self.seconds(record) or math.inf) < (self.seconds(there) or math.inf):
                best[product_of(record)] = record
        return best

    @property
    def measured(self) -> bool:
        """Return whether the times are measured ones."""
        return all(record.backend == "gpu" for record in self.found.done)

    @property
    def saved_s(self) -> float:
        """Return about how many seconds pruning saved: the pruned, at what this call's tasks took each; 0 when it carried out none."""
        carried_out = len(self.found.records) - self.found.reused - len(self.found.pruned)
        return self.elapsed_s / carried_out * len(self.found.pruned) if carried_out > 0 else 0.0

    def seconds(self, record: Record) -> float | None:
        """Return a record's time, measured or modelled."""
        return time_of(record, self.on)


def tune(kernel: str, products: Iterable[tuple[int, int, int]], transposed: tuple[bool, bool] = (False, False), *,
         backend: str | None = None, out: Path | str | None = None, resume: bool = False, executor: Executor | None = None,
         at_once: int = 1, budget_s: float = BUDGET_S, prune: bool = True, progress: bool = True) -> Tuned:
    """Find the fastest parameters of a kernel for each of some products.

    Parameters
    ----------
    kernel, transposed
        As for `plan`.
    products
        M, N and K of each.
    backend
        "gpu" or "sim"; default a GPU when one works. On the simulator products have at most 2**31 multiply-adds, and times are modelled.
    out, resume, executor, progress
        As for `sweep`.
    at_once
        Tasks that the executor has at a time; as many as it has workers.
    budget_s
        About how long to measure one combination.
    prune
        False measures every combination.

    Raises
    ------
    CourseError
        As `plan` and `sweep`.
    """
    backend = backend or choose_backend()
    on = device_here() if backend == "gpu" and executor is None else DEFAULT_DEVICE
    tasks = [one for sizes in dict.fromkeys(products)
             for one in plan(kernel, sizes, transposed, on=on, backend=backend, budget_s=budget_s)]
    bounds = {one.identity: least_seconds(one, on) for one in tasks}
    if backend == "gpu" and executor is None:
        compile_texts(((one.kernel, one.parameters) for one in tasks), str(gpu.probe().arch))
    started = time.perf_counter()
    found = sweep(tasks, out=out, resume=resume, executor=executor, progress=progress,
                  pruner=BoundPruner(bounds, on, at_once) if prune else None)
    return Tuned(found, bounds, on, time.perf_counter() - started)


def table(tuned: Tuned) -> str:
    """Return the best of each product as text, and what the search cost."""
    word = "measured" if tuned.measured else "modelled"
    lines = [f"{'M × N × K':>20}  {word:>12}  {'bound':>10}  {'GFLOP/s':>8}  parameters"]
    for product, record in tuned.best.items():
        seconds, operands = tuned.seconds(record), "".join("NT"[t] for t in product[3:])
        flops = 2 * math.prod(product[:3])
        lines.append(f"{' × '.join(map(str, product[:3])):>20}  {1e6 * (seconds or math.nan):9.2f} µs  "
                     f"{1e6 * tuned.bounds[record.identity]:7.2f} µs  {flops / (seconds or math.nan) / 1e9:8,.0f}  "
                     f"{operands} {values(record.parameters)}")
    found = tuned.found
    counts = {"tried": len(found.done), "pruned": len(found.pruned), "failed": len(found.failed), "skipped": len(found.skipped),
              "not measured again": found.reused, "left": found.planned - len(found.records)}
    lines.append(f"{found.planned} candidates: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count)
                 + f"; {tuned.elapsed_s:.1f} s, pruning saved about {tuned.saved_s:.1f} s")
    lines.append(where(tuned))
    lines += [f"{r.kernel} {r.M} × {r.N} × {r.K} {values(r.parameters)}: {r.problem}" for r in found.failed[:5]]
    return "\n".join(lines)


def where(tuned: Tuned) -> str:
    """Return the sentence that goes with the table and the chart: which device, or that nothing was measured."""
    if not tuned.measured:
        return f"{MODELLED}: counted on the simulator, least times by the model for {tuned.on.name}"
    return "; ".join(sorted({f"measured on {r.device}, driver {r.driver}, {r.date}" for r in tuned.found.done})) or "nothing was measured"


def values(parameters: Mapping[str, int], left_out: Sequence[str] = ("TRANSA", "TRANSB")) -> str:
    """Write parameters on one line.

    >>> values({"BM": 64, "TRANSA": 0})
    'BM=64'
    """
    return " ".join(f"{name}={value}" for name, value in parameters.items() if name not in left_out)


def chart(tuned: Tuned, path: Path | str) -> Any:
    """Draw the best of each product, and what the bound allows, as an SVG file; return the Axes."""
    from matplotlib.figure import Figure

    best = tuned.best
    names = [" × ".join(map(str, product[:3])) if len(set(product[:3])) > 1 else str(product[0]) for product in best]
    speeds = [[2e-9 * math.prod(product[:3]) / seconds for product, seconds in zip(best, times, strict=True)]
              for times in ([tuned.seconds(r) or math.nan for r in best.values()], [tuned.bounds[r.identity] for r in best.values()])]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax = figure.subplots()
    places = range(len(best))
    ax.bar(places, speeds[0], label="the best found" if tuned.measured else f"the best found, {MODELLED}")
    ax.plot(places, speeds[1], "k_", markersize=16, label="what its bound allows")
    ax.set_xticks(places, names, rotation=45 if any(len(name) > 5 for name in names) else 0)
    ax.set(xlabel="M × N × K; one number: a square", ylabel="GFLOP/s")
    ax.set_title(where(tuned), size="small")
    ax.legend()
    figure.savefig(path, format="svg")
    return ax
