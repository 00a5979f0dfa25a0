"""scikit-learn's handwritten digits, cut into pictures to learn from and pictures to test on."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError, require

PIXELS, CLASSES = 64, 10
TESTED = 360            # of the 1797 pictures, a fifth
Batch: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32]]      # (64, size), a column per picture; (size,)
BRIGHTEST = 16          # of a pixel


@dataclass(frozen=True)
class Digits:
    """Pictures and what they show.

    Attributes
    ----------
    pictures
        (count, 64): 8 × 8 pixels from 0 to 1.
    labels
        (count,): 0 to 9.
    test_pictures, test_labels
        The same, not to be learnt from.
    """

    pictures: NDArray[np.float64]
    labels: NDArray[np.int32]
    test_pictures: NDArray[np.float64]
    test_labels: NDArray[np.int32]

    def batches(self, size: int, seed: int = 0) -> Iterator[Batch]:
        """Yield batches for ever: every epoch all pictures in a new order; those too few to fill a batch are left out.

        Raises
        ------
        CourseError
            When a batch is larger than all pictures together.
        """
        count = len(self.labels)
        if not 1 <= size <= count:
            raise CourseError(f"batch = {size}: there are {count} pictures to learn from, so a batch has 1 to {count}", batch=size)
        rng = np.random.default_rng(seed)
        while True:
            order = rng.permutation(count)
            for first in range(0, count - size + 1, size):
                chosen = order[first:first + size]
                yield np.ascontiguousarray(self.pictures[chosen].T), self.labels[chosen]


@cache
def digits(seed: int = 0, path: Path | str | None = None) -> Digits:
    """Load the digits and split them by chance: 1437 pictures to learn from, 360 to test on.

    Parameters
    ----------
    seed
        Of the split.
    path
        scikit-learn's file digits.csv.gz, where scikit-learn is not installed.

    >>> digits().pictures.shape, digits().test_pictures.shape, digits().labels[:5].dtype
    ((1437, 64), (360, 64), dtype('int32'))
    """
    pictures, labels = _load(path)
    order = np.random.default_rng(seed).permutation(len(labels))
    test, rest = order[:TESTED], order[TESTED:]
    return Digits(pictures[rest], labels[rest], pictures[test], labels[test])


def _load(path: Path | str | None) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return all pictures, with pixels from 0 to 1, and their labels."""
    if path is None:
        require("The network that learns the digits", "sklearn")
        from sklearn.datasets import load_digits

        found = load_digits()
        pixels, labels = found.data, found.target
    else:
        table = np.loadtxt(path, delimiter=",")
        pixels, labels = table[:, :PIXELS], table[:, PIXELS]
    return np.asarray(pixels, np.float64) / BRIGHTEST, np.asarray(labels, np.int32)
