"""A sweep over active threads: what a chain's time against the number of threads says about latency and throughput."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.arch import WARP
from course_lib.model.inputs import InputError
from course_lib.model.latency import positive, round_cycles


@dataclass(frozen=True)
class ThreadSweep:
    """The two numbers of an instruction, in cycles, read from a sweep.

    Attributes
    ----------
    latency
        From the start of one to the start of the next that needs its result: the height of the flat part.
    per_warp
        Of a multiprocessor for each warp's instruction, when there are warps enough: the slope, for a warp more.
    """

    latency: float
    per_warp: float

    @property
    def knee(self) -> float:
        """Return the warps at which the flat part and the slope meet: latency × throughput, by Little's law.

        >>> ThreadSweep(36, 6).knee
        6.0
        """
        return self.latency / self.per_warp

    def cycles(self, threads: int) -> float:
        """Return what the two numbers predict for a step of a chain in every warp.

        >>> [ThreadSweep(36, 6).cycles(threads) for threads in (32, 192, 256)]
        [36, 36, 48]
        """
        return round_cycles(threads, self.latency, self.per_warp)


def read_sweep(cycles: Mapping[int, float]) -> ThreadSweep:
    """Read latency and throughput from a sweep over active threads.

    Parameters
    ----------
    cycles : mapping of threads to cycles
        Of a step, for the slowest warp. The fewest threads must leave the latency bare, the most must be more than enough:
        nothing but these two points is used, so that the others can test the result.

    Raises
    ------
    InputError, a ValueError
        For fewer than two numbers of warps, values that are not positive, or a sweep that is flat to its end: then the warps
        were too few to show the throughput.

    Source: Chien, 1.1.2, Tables 2 and 3.

    >>> read_sweep({1: 34.6, 192: 39.3, 512: 96.9})          # his Table 2, slowest thread
    ThreadSweep(latency=34.6, per_warp=6.05625)
    """
    for threads, value in cycles.items():
        positive(threads=threads, cycles=value)
    few, many = (min(cycles), max(cycles)) if cycles else (0, 0)
    warps = math.ceil(many / WARP)
    if warps <= math.ceil(few / WARP):
        raise InputError("a sweep needs two numbers of warps at least: one that hides nothing, and one that is plenty", threads=many)
    if cycles[many] < 1.2 * cycles[few]:
        raise InputError(f"{many} threads take hardly longer than {few}: too few to show the throughput; measure with more", threads=many)
    return ThreadSweep(cycles[few], cycles[many] / warps)
