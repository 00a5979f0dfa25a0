"""Train a network: the loss of every step, and iterations a second."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.run import choose_backend
from course_lib.run.stopwatch import time_call
from course_lib.training.digits import Batch, Digits, digits
from course_lib.training.host import Host, Simulator
from course_lib.training.network import Call, Network, Place, Product, Setting, accuracy, first_weights
from course_lib.training.on_gpu import OnGpu

KINDS = ("separate", "fused", "library")
BACKENDS = ("gpu", "cpu", "sim")
LAP = 50            # steps between two looks at the clock, fewer when they would take longer than
LONGEST = 0.2       # seconds
STORED = 16         # batches that lie ready while the clock runs
# How far the losses of two choices of products may differ after 300 steps. Rounding alone made 1e-7 in most of 72 runs (three rates, eight
# seeds, 32 to 256 neurons; float32 against float64), and up to 5e-5 where it decided whether a neuron is on.
CLOSE = 1e-3
STEP_CLOSE = 1e-3   # of the largest change of a weight, after one step: weights near 1 are rounded to 6e-8, and change by some 1e-3


@dataclass(frozen=True)
class Training:
    """What a training run gave.

    Attributes
    ----------
    products
        "separate", "fused" or "library".
    backend, label
        "gpu", "cpu" or "sim", and its words for a reader.
    losses
        (steps,); mean loss of each step's batch, before the step.
    accuracy
        Share of the test pictures that are recognised at the end.
    interrupted
        Whether Ctrl-C ended it early; all the rest is of the steps that were done.
    """

    products: str
    backend: str
    label: str
    setting: Setting
    losses: NDArray[np.float64] = field(repr=False)
    accuracy: float
    weights: dict[str, np.ndarray] = field(repr=False)
    interrupted: bool = False


@dataclass(frozen=True)
class Speed:
    """Iterations a second: the middle of several samples and the quartiles.

    `graph` says whether a CUDA graph replayed the step; else its kernels were launched one by one.
    """

    products: str
    backend: str
    label: str
    setting: Setting
    graph: bool
    per_s: float
    low: float
    high: float
    repeats: int


def choose(products: str, backend: str | None = None) -> str:
    """Return the backend for the products, or say why there is none.

    None takes what `run` takes; for the library, which the simulator cannot run, the CPU instead of it.

    Raises
    ------
    CourseError

    >>> choose("library", "cpu"), choose("fused", "sim")
    ('cpu', 'sim')
    """
    if products not in KINDS:
        raise CourseError(f"products = {products!r}: they are {', '.join(map(repr, KINDS))}", products=products)
    if backend not in (None, *BACKENDS):
        raise CourseError(f"backend = {backend!r}: training runs on {', '.join(map(repr, BACKENDS))}", backend=backend)
    if backend is None:
        backend = choose_backend()
        return "cpu" if (backend, products) == ("sim", "library") else backend
    if backend == "cpu" and products != "library":
        raise CourseError(f"our {products} kernels do not run on the CPU: take backend='sim', or products='library'", products=products)
    if backend == "sim" and products == "library":
        raise CourseError("the simulator runs our kernels, not the library: take backend='cpu'", products=products)
    return backend if backend == "cpu" else choose_backend(backend)


def place(products: str, backend: str) -> Place:
    """Return where the arrays lie and who multiplies."""
    made: dict[str, Callable[[], Place]] = {"cpu": Host, "sim": lambda: Simulator(products), "gpu": lambda: OnGpu(products)}
    return made[backend]()


def train(products: str = "library", *, backend: str | None = None, setting: Setting | None = None, steps: int = 300,
          data: Digits | None = None, dtype: str = "float32", graph: bool = False, progress: bool = False,
          formulas: Sequence[Product] | None = None) -> Training:
    """Train a network on the digits.

    Parameters
    ----------
    products
        "separate", Wong's transposition, product and sum; "fused"; or "library", cuBLAS or on the CPU NumPy's BLAS.
    backend
        "gpu", "cpu" or "sim"; see `choose`. Take few steps on the simulator.
    dtype
        "float32"; "float64" on the CPU alone.
    graph
        On a GPU, replay the step from a CUDA graph.
    progress
        Draw a bar when it takes long.
    formulas
        Other products for a step; see `Network`.

    Returns
    -------
    Training
        Ctrl-C ends it early with what there is.

    >>> run = train(backend="cpu", steps=60)
    >>> len(run.losses), bool(run.losses[0] > 2 * run.losses[-1])
    (60, True)
    """
    backend, setting, data = choose(products, backend), setting or Setting(), data or digits()
    if dtype == "float64" and backend != "cpu":
        raise CourseError(f"our kernels and layers compute in float32 on {backend!r}: float64 needs backend='cpu'", dtype=dtype)
    where = place(products, backend)
    network, stopped = Network(setting, where, dtype, formulas=formulas), False
    losses: list[float] = []
    with where:
        try:
            _learn(network, itertools.islice(data.batches(setting.batch, setting.seed), steps), losses, graph, steps if progress else 0)
        except KeyboardInterrupt:
            stopped = True
        weights = network.weights()
    right = accuracy(weights, data.test_pictures, data.test_labels)
    return Training(products, backend, where.label, setting, np.array(losses), right, weights, stopped)


def _learn(network: Network, batches: Iterator[Batch], losses: list[float], graph: bool, total: int) -> None:
    """Take a step for each batch, and append its loss."""
    from tqdm.auto import tqdm

    step: Call = network.step
    for pictures, labels in tqdm(batches, total=total or None, unit=" steps", delay=1.0, leave=False, disable=not total):
        network.load(pictures, labels)
        step()
        losses.append(network.loss())
        if graph and len(losses) == 1:
            step = network.place.record(network.step)       # the first step was taken in the usual way, as a recording needs


def speed(products: str = "library", *, backend: str | None = None, setting: Setting | None = None, data: Digits | None = None,
          graph: bool = False, budget_s: float = 1.0) -> Speed:
    """Measure iterations a second: each lays a batch in place and takes a step; nobody waits for a loss.

    Parameters
    ----------
    products, backend, setting, data, graph
        As for `train`.
    budget_s
        About how long to measure.

    Raises
    ------
    CourseError
        On the simulator, whose time says nothing about a GPU.
    """
    backend, setting, data = choose(products, backend), setting or Setting(), data or digits()
    if backend == "sim":
        raise CourseError("the simulator's time says nothing about a GPU: count with step_cost, or take backend='cpu'")
    where = place(products, backend)
    network = Network(setting, where)
    ready = [(where.put(np.asarray(x, np.float32)), where.put(y)) for x, y in itertools.islice(data.batches(setting.batch), STORED)]
    with where:
        def laps(step: Call, count: int) -> None:
            for i in range(count):
                network.load(*ready[i % STORED])
                step()
            where.wait()
        laps(network.step, 1)
        started = perf_counter()
        laps(network.step, 1)
        count = max(1, min(LAP, int(LONGEST / (perf_counter() - started))))
        step = where.record(network.step) if graph else network.step
        time = time_call(lambda: laps(step, count), budget_s=budget_s)
    per_s, low, high = (count / seconds for seconds in (time.median_s, time.high_s, time.low_s))
    return Speed(products, backend, where.label, setting, graph, per_s, low, high, time.repeats)


def loss_distance(one: Training, other: Training) -> float:
    """Return the largest distance of two runs' losses, step by step; NaN when one has a NaN, so ask `loss_distance(…) <= CLOSE`.

    Raises
    ------
    CourseError
        When the runs differ in length or setting: they then learnt from other batches.
    """
    if one.setting != other.setting or len(one.losses) != len(other.losses):
        raise CourseError(f"these runs cannot be compared: {one.setting}, {len(one.losses)} steps, "
                          f"and {other.setting}, {len(other.losses)} steps")
    return float(np.max(np.abs(one.losses - other.losses), initial=0.0))


def step_error(products: str = "library", *, backend: str | None = None, setting: Setting | None = None, data: Digits | None = None,
               graph: bool = False) -> float:
    """Take one step and hold the weights to NumPy's in float64.

    Parameters
    ----------
    products, backend, setting, data, graph
        As for `train`.

    Returns
    -------
    float
        Largest error of a weight, relative to the largest change in its array; right when `<= STEP_CLOSE`, NaN when a weight is NaN.

    >>> step_error(backend="cpu") <= STEP_CLOSE
    True
    """
    backend, setting, data = choose(products, backend), setting or Setting(), data or digits()
    start, batch = first_weights(setting), next(data.batches(setting.batch, setting.seed))
    where, exact = place(products, backend), Network(setting, Host(), "float64", start)
    network = Network(setting, where, weights=start)
    exact.load(*batch)
    exact.step()
    with where:
        network.load(*batch)
        network.step()
        if graph:
            again = where.record(network.step)
            for name, array in start.items():
                where.copy(network.arrays[name], array)
            again()
        found = network.weights()
    errors = [np.max(np.abs(found[name] - right)) / np.max(np.abs(right - start[name])) for name, right in exact.weights().items()]
    return float(np.max(errors))
