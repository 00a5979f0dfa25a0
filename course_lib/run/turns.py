"""Programs for the CPU that take turns: each is timed for a moment, round after round, so that all of them see the same computer."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.run.accuracy import matches
from course_lib.run.cpu import build_cpu, resolve_cpu, run_cpu
from course_lib.run.stopwatch import fastest, launches_for

LINE = 64                               # bytes of a cache line
# The processor time of this thread, where it is counted finely: what other programs take does not belong to it.
CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution <= 1e-6 else time.perf_counter


@dataclass(frozen=True)
class RoundTimes:
    """The seconds of a program in each round."""

    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        """Return the fastest round."""
        return min(self.rounds)

    @property
    def median(self) -> float:
        """Return the middle round."""
        return statistics.median(self.rounds)

    @property
    def worst(self) -> float:
        """Return the slowest round."""
        return max(self.rounds)

    @property
    def percent(self) -> str:
        """Return by how much the slowest round was above the fastest.

        >>> RoundTimes((2.0, 2.5, 2.1)).percent
        '25 %'
        """
        return f"{100 * (self.worst / self.best - 1):.0f} %"


def aligned(rows: int, cols: int, ld: int, seed: int) -> NDArray[np.float32]:
    """Return a matrix of random numbers from -0.5 to 0.5 whose rows begin `ld` floats apart, the first at a cache line."""
    data = np.random.default_rng(seed).random(rows * ld + LINE // 4, dtype=np.float32) - np.float32(0.5)
    begin = -data.ctypes.data % LINE // 4
    return data[begin:begin + rows * ld].reshape(rows, ld)[:, :cols]


def prepared(program: str, matrices: Sequence[NDArray[np.float32]]) -> Callable[[], None]:
    """Compile a program, try it, and return a call without arguments that computes C.

    Parameters
    ----------
    program
        A name of the catalog, or loops of the reader's, which run in a process of their own first.
    matrices
        A, B and C.

    Raises
    ------
    CourseError
        When it does not compile, crashes, prints, or computes something else.
    """
    A, B, C = matrices
    kernel = resolve_cpu(program)
    tried = run_cpu(kernel, A, B, timed=False)
    if tried.printed:
        raise CourseError("loops that print cannot be timed: take the printing out")
    if not matches(tried.C, np.ascontiguousarray(A), np.ascontiguousarray(B)):
        raise CourseError("these loops do not compute the product, so their time says nothing: run the check of the lesson")
    return toolchain.gemm_call(build_cpu(kernel), kernel.entry, A, B, C)


def in_turns(calls: Sequence[Callable[[], None]], *, rounds: int, budget_s: float, clock: Callable[[], float] = CLOCK) -> list[RoundTimes]:
    """Time calls one after another, round after round; of each round the fastest sample counts.

    Parameters
    ----------
    budget_s
        About how long a call is measured in a round.
    clock
        Seconds.

    Returns
    -------
    list of RoundTimes
        In the order of the calls.
    """
    launches = [launches_for(call, clock) for call in calls]
    taken = [[fastest(call, budget_s=budget_s, launches=many, clock=clock) for call, many in zip(calls, launches, strict=True)]
             for _ in range(rounds)]
    return [RoundTimes(times) for times in zip(*taken, strict=True)]
