"""A network with one hidden layer, trained by plain gradient descent; its five matrix products a step are data.

Weights lie as in Caffe, a row for each output; a batch of pictures comes as columns. So the step needs a product with no
operand transposed, with the first, with the second, and with both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.run.types import Array
from course_lib.training.digits import CLASSES, PIXELS

Call: TypeAlias = Callable[[], None]


class Layers(Protocol):
    """What happens between the products: each method returns the call that does it, in place."""

    def activate(self, H: Array, bias: Array) -> Call: ...

    def judge(self, Y: Array, bias: Array, labels: Array, D: Array, losses: Array) -> Call: ...

    def gate(self, G: Array, H: Array) -> Call: ...

    def lower(self, D: Array, bias: Array, rate: float) -> Call: ...


class Place(Protocol):
    """Where the arrays of a network lie and who multiplies: `Host`, `Simulator` or `OnGpu`."""

    label: str

    @property
    def layers(self) -> Layers: ...

    @property
    def product(self) -> Callable[[Array, Array, Array, float, float, tuple[bool, bool]], Call]: ...

    @property
    def fetch(self) -> Callable[[Array], np.ndarray]: ...

    def put(self, array: np.ndarray) -> Array: ...

    def copy(self, target: Array, source: Array) -> None: ...

    def wait(self) -> None: ...

    def record(self, work: Call) -> Call: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *error: Any) -> None: ...


@dataclass(frozen=True)
class Setting:
    """What is trained and how: hidden neurons, pictures in a batch, length of a step, seed of the weights and the batches."""

    hidden: int = 128
    batch: int = 64
    rate: float = 0.1
    seed: int = 0

    def __post_init__(self):
        """Refuse what cannot be trained."""
        for name in ("hidden", "batch"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise CourseError(f"{name} = {value!r}: a whole number from 1 on", **{name: value})
        if not 0 < self.rate < float("inf"):
            raise CourseError(f"rate = {self.rate!r}: a positive number such as 0.1", rate=self.rate)


@dataclass(frozen=True)
class Product:
    """One product of a step: result = op(A) op(B), or result = result - rate op(A) op(B) when it is an update."""

    result: str
    A: str
    B: str
    transposed: tuple[bool, bool]
    updates: bool = False

    @property
    def text(self) -> str:
        """Return the product as a formula.

        >>> [p.text for p in PRODUCTS]
        ['H = Xᵀ W1ᵀ', 'Y = H W2ᵀ', 'G = D W2', 'W2 = W2 - rate Dᵀ H', 'W1 = W1 - rate Gᵀ Xᵀ']
        """
        a, b = (name + "ᵀ" * transpose for name, transpose in zip((self.A, self.B), self.transposed, strict=True))
        return f"{self.result} = {self.result} - rate {a} {b}" if self.updates else f"{self.result} = {a} {b}"

    @property
    def letters(self) -> str:
        """Return the two letters of a library's interface, T for an operand that is transposed, N for one that is not.

        >>> [p.letters for p in PRODUCTS]
        ['TT', 'NT', 'NN', 'TN', 'TT']
        """
        return "".join("NT"[transpose] for transpose in self.transposed)

    def sizes(self, setting: Setting) -> tuple[int, int, int]:
        """Return M, N, K.

        Raises
        ------
        CourseError
            When the matrices of this setting do not fit together.

        >>> PRODUCTS[1].sizes(Setting(hidden=128, batch=64))
        (64, 10, 128)
        """
        shapes = matrix_shapes(setting)
        A, B = (shapes[name][::-1] if transpose else shapes[name]
                for name, transpose in zip((self.A, self.B), self.transposed, strict=True))
        (M, K), (rows, N) = A, B
        if (rows, shapes[self.result]) != (K, (M, N)):
            raise CourseError(f"{self.text}: {M} × {K} times {rows} × {N} cannot make {self.result}, which is "
                              "{} × {}: turn an operand, or exchange the two".format(*shapes[self.result]))
        return M, N, K


PRODUCTS = (
    Product("H", "X", "W1", (True, True)),
    Product("Y", "H", "W2", (False, True)),
    Product("G", "D", "W2", (False, False)),             # before the update: the gradient is that of the weights that were used
    Product("W2", "D", "H", (True, False), updates=True),
    Product("W1", "G", "X", (True, True), updates=True),
)
LEARNT = ("W1", "b1", "W2", "b2")


def matrix_shapes(setting: Setting) -> dict[str, tuple[int, int]]:
    """Return the (rows, columns) of each matrix of a step as it is stored, by name.

    >>> matrix_shapes(Setting(hidden=128, batch=32))["H"]
    (32, 128)
    """
    n, hidden = setting.batch, setting.hidden
    return {"X": (PIXELS, n), "H": (n, hidden), "G": (n, hidden), "Y": (n, CLASSES), "D": (n, CLASSES), "W1": (hidden, PIXELS),
            "W2": (CLASSES, hidden)}


def first_weights(setting: Setting) -> dict[str, NDArray[np.float64]]:
    """Return the weights before the first step by name, float64: normal numbers by He's rule, and 0 for the biases.

    Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers" (2015), equation 10.

    >>> {name: array.shape for name, array in first_weights(Setting(hidden=32)).items()}
    {'W1': (32, 64), 'b1': (32,), 'W2': (10, 32), 'b2': (10,)}
    """
    rng = np.random.default_rng(setting.seed)
    return {"W1": rng.standard_normal((setting.hidden, PIXELS)) * np.sqrt(2 / PIXELS), "b1": np.zeros(setting.hidden),
            "W2": rng.standard_normal((CLASSES, setting.hidden)) * np.sqrt(2 / setting.hidden), "b2": np.zeros(CLASSES)}


class Network:
    """The arrays of a network on some place, and the calls that make one step.

    Parameters
    ----------
    place
        Where the arrays lie and who multiplies.
    dtype
        "float32" or "float64".
    weights
        To begin with; default `first_weights`.
    formulas
        Other products than `PRODUCTS`, of the same results in the same order.

    Raises
    ------
    CourseError
        When a formula's matrices do not fit together.

    Attributes
    ----------
    arrays
        X (64 × batch), labels, H and G (batch × hidden), Y and D (batch × 10), losses (batch), W1, b1, W2, b2.
    calls
        One step in its order; products are named by their formulas.
    """

    def __init__(self, setting: Setting, place: Place, dtype: str = "float32", weights: Mapping[str, np.ndarray] | None = None,
                 formulas: Sequence[Product] | None = None) -> None:
        self.setting, self.place, self.dtype, self.formulas = setting, place, np.dtype(dtype), _fitting(formulas or PRODUCTS, setting)
        shapes: dict[str, tuple[int, ...]] = {**matrix_shapes(setting), "losses": (setting.batch,)}
        start: dict[str, np.ndarray] = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        start |= weights or first_weights(setting)
        self.arrays = {name: place.put(np.asarray(array, self.dtype)) for name, array in start.items()}
        self.arrays["labels"] = place.put(np.zeros(setting.batch, np.int32))
        self.calls = tuple(self._calls())

    def _calls(self) -> Iterator[tuple[str, Call]]:
        """Yield the step's calls: between the products stand the layers' own works."""
        a, layers, rate = self.arrays, self.place.layers, self.setting.rate
        forward, score, back, update2, update1 = ((p.text, self._product(p)) for p in self.formulas)
        yield forward
        yield "activate", layers.activate(a["H"], a["b1"])
        yield score
        yield "judge", layers.judge(a["Y"], a["b2"], a["labels"], a["D"], a["losses"])
        yield back
        yield "gate", layers.gate(a["G"], a["H"])
        yield update2
        yield "lower b2", layers.lower(a["D"], a["b2"], rate)
        yield update1
        yield "lower b1", layers.lower(a["G"], a["b1"], rate)

    def _product(self, p: Product) -> Call:
        alpha, beta = (-self.setting.rate, 1.0) if p.updates else (1.0, 0.0)
        return self.place.product(self.arrays[p.A], self.arrays[p.B], self.arrays[p.result], alpha, beta, p.transposed)

    def load(self, pictures: Array, labels: Array) -> None:
        """Lay a batch in place; arrays of the place or NumPy's."""
        self.place.copy(self.arrays["X"], pictures)
        self.place.copy(self.arrays["labels"], labels)

    def step(self) -> None:
        """Learn from the batch that lies there."""
        for _, call in self.calls:
            call()

    def loss(self) -> float:
        """Return the mean loss of the last step's batch, before the step."""
        return float(np.mean(self.place.fetch(self.arrays["losses"]), dtype=np.float64))

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights as NumPy arrays."""
        return {name: self.place.fetch(self.arrays[name]) for name in LEARNT}


def _fitting(formulas: Sequence[Product], setting: Setting) -> tuple[Product, ...]:
    """Return the formulas of a step when they can be carried out."""
    if (given := [p.result for p in formulas]) != (wanted := [p.result for p in PRODUCTS]):
        raise CourseError(f"the products make {', '.join(given)}, but a step makes {', '.join(wanted)}, in this order")
    for p in formulas:
        p.sizes(setting)
    return tuple(formulas)


def scores(weights: Mapping[str, np.ndarray], pictures: np.ndarray) -> NDArray[np.float64]:
    """Return the scores (count, 10) of pictures (count, 64), in NumPy and float64."""
    w = {name: np.asarray(array, np.float64) for name, array in weights.items()}
    return np.maximum(pictures @ w["W1"].T + w["b1"], 0) @ w["W2"].T + w["b2"]


def accuracy(weights: Mapping[str, np.ndarray], pictures: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of pictures whose highest score is their label's."""
    return float(np.mean(np.argmax(scores(weights, pictures), axis=1) == labels))
