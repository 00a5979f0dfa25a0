"""The gradient check: what a step takes off the weights, held to the slope of the loss by finite differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.training.digits import Batch, Digits, digits
from course_lib.training.host import Host
from course_lib.training.network import LEARNT, Network, Product, Setting, first_weights, scores

STEP = 1e-6         # of a weight: rounding in float64 costs about 1e-16 / 1e-6, the curve of the loss about 1e-12
RIGHT = 1e-4        # of the largest slope; a wrong formula is off by the slope itself


@dataclass(frozen=True)
class Slope:
    """What came out for one array, and one of the tried elements: the worst, or the one with the largest gradient when all agree.

    Attributes
    ----------
    name
        "W1", "b1", "W2" or "b2".
    step, slope
        The gradient by the step's products, and by two losses.
    error
        The largest distance of the two, over the largest slope that was tried in this array.
    """

    name: str
    element: tuple[int, ...]
    step: float
    slope: float
    error: float

    @property
    def right(self) -> bool:
        """Return whether rounding explains the distance; False for NaN."""
        return _right(self.error)


def _right(error: float) -> bool:
    return bool(error <= RIGHT)


def mean_loss(weights: Mapping[str, np.ndarray], pictures: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean loss of a batch in float64, computed otherwise than by the network: no product of a step is used.

    Parameters
    ----------
    weights
        By name, as `first_weights` gives them.
    pictures
        (64, batch).
    labels
        (batch,) whole numbers.
    """
    y = scores(weights, np.asarray(pictures, np.float64).T)
    y = y - y.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(y).sum(axis=1)) - y[np.arange(len(y)), labels]))


def check_gradient(formulas: Sequence[Product] | None = None, setting: Setting | None = None, *, data: Digits | None = None, tries: int = 8,
                   seed: int = 0) -> tuple[Slope, ...]:
    """Take one step in float64 and hold the gradients that it used to finite differences.

    Parameters
    ----------
    formulas
        The products of the step; default the right ones.
    tries
        Elements of each array: half where the step's gradient is largest, half chosen by chance; each costs two losses.

    Returns
    -------
    tuple
        For W1, b1, W2 and b2.

    >>> [s.name for s in check_gradient(setting=Setting(hidden=16, batch=20)) if s.right]
    ['W1', 'b1', 'W2', 'b2']
    """
    setting, data = setting or Setting(), data or digits()
    rng = np.random.default_rng(seed)
    start = {name: array + 0.1 * rng.standard_normal(array.shape) for name, array in first_weights(setting).items()}
    batch = next(data.batches(setting.batch, setting.seed))
    network = Network(setting, Host(), "float64", start, formulas)
    network.load(*batch)
    network.step()
    after, found = network.weights(), []
    for name in LEARNT:
        gradient = (start[name] - after[name]) / setting.rate
        where = _tried(gradient, tries, rng)
        slopes = [_slope(start, name, at, batch) for at in where]
        distances, scale = np.abs([gradient[at] - slope for at, slope in zip(where, slopes, strict=True)]), np.max(np.abs(slopes))
        worst = int(np.argmax(distances))               # argmax finds a NaN first
        error = distances[worst] / scale if scale else np.inf if distances[worst] != 0 else 0.0
        shown = 0 if _right(error) else worst
        found.append(Slope(name, where[shown], float(gradient[where[shown]]), slopes[shown], float(error)))
    return tuple(found)


def _tried(gradient: np.ndarray, tries: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return the elements to try, as tuples of indices; first those with the largest gradient."""
    largest = np.argsort(-np.abs(gradient), axis=None)[:tries // 2]
    chosen = np.concatenate([largest, rng.integers(gradient.size, size=tries - len(largest))])
    return [tuple(int(i) for i in np.unravel_index(flat, gradient.shape)) for flat in chosen]


def _slope(weights: Mapping[str, np.ndarray], name: str, at: tuple[int, ...], batch: Batch) -> float:
    """Return how the loss changes with one weight, from a little above and a little below."""
    losses = []
    for change in (STEP, -STEP):
        moved = weights[name].copy()
        moved[at] += change
        losses.append(mean_loss({**weights, name: moved}, *batch))
    return (losses[0] - losses[1]) / (2 * STEP)
