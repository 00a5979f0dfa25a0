"""Measure a function several times and say how far the times lie apart."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Name = TypeVar("Name")


@dataclass(frozen=True)
class Spread:
    """The middle and the quartiles of several times in seconds; half of them lie between low and high."""

    median: float
    low: float
    high: float
    repeats: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """Summarise times.

        >>> Spread.of([3.0, 1.0, 2.0])
        Spread(median=2.0, low=1.5, high=2.5, repeats=3)
        """
        low, median, high = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(low), float(high), len(samples))


def repeat(functions: Mapping[Name, Callable[[], object]], times: int, *,
           clock: Callable[[], float] = time.perf_counter) -> dict[Name, Spread]:
    """Run several functions in turn, so that whatever disturbs the machine meets them all alike.

    Parameters
    ----------
    functions
        Each is run once beforehand, not counted.
    clock
        `time.perf_counter` for the time that passes, `time.process_time` for the time that this process's threads
        spend on cores, which other processes do not lengthen.

    >>> repeat({"nothing": int}, 2)["nothing"].repeats
    2
    """
    for function in functions.values():
        function()
    samples: dict[Name, list[float]] = {name: [] for name in functions}
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(times):
            for name, function in functions.items():
                start = clock()
                function()
                samples[name].append(clock() - start)
            gc.collect()
    finally:
        if enabled:
            gc.enable()
    return {name: Spread.of(found) for name, found in samples.items()}
