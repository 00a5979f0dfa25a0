"""Programs that take turns: each is timed for a moment, round after round, so that all of them see the same computer."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.run import matches, run_cpu
from course_lib.run.cpu import build_cpu, resolve_cpu
from course_lib.run.stopwatch import fastest, launches_for

LINE = 64
# The processor time of this thread, where it is counted finely: what other programs take does not belong to it.
CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution <= 1e-6 else time.perf_counter


@dataclass(frozen=True)
class Size:
    """C has M rows and N columns, K is the length of the sums, and `ldb` floats lie from one row of B to the next."""

    M: int
    N: int
    K: int
    ldb: int

    @classmethod
    def square(cls, N: int, ldb: int | None = None) -> "Size":
        """Return the size of three N × N matrices, with or without floats between the rows of B.

        >>> Size.square(512, 528)
        Size(M=512, N=512, K=512, ldb=528)
        """
        return cls(N, N, N, ldb or N)

    @property
    def flops(self) -> int:
        """Return the floating-point operations of a product, 2MNK."""
        return 2 * self.M * self.N * self.K

    def matrices(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return A and B with random numbers, and space for C; each begins with a cache line."""
        return (_aligned(self.M, self.K, self.K, 1), _aligned(self.K, self.N, self.ldb, 2), _aligned(self.M, self.N, self.N, 3))


# What is recorded: matrices that fit into a first-level cache, and two that differ only in where the rows of B lie. SHOWN: the bars.
SIZES = (Size.square(48), Size.square(512, 528), Size.square(512))
SHOWN = (SIZES[0], SIZES[2])
TIMED = (Size.square(1024, 1040), Size.square(1024))
SMALL = (Size.square(120), Size.square(128))
# Floats from one row of B to the next, for a B of 1024 equal rows: 0 has them in one place, so that nothing of B has to be fetched.
LAYOUTS = (TIMED[1].ldb, TIMED[0].ldb, 0)


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


def _aligned(rows: int, cols: int, ld: int, seed: int) -> NDArray[np.float32]:
    data = np.random.default_rng(seed).random(rows * ld + LINE // 4, dtype=np.float32) - np.float32(0.5)
    begin = -data.ctypes.data % LINE // 4
    return data[begin:begin + rows * ld].reshape(rows, ld)[:, :cols]


def prepared(program: str, size: Size, matrices: Sequence[NDArray[np.float32]] | None = None) -> Callable[[], None]:
    """Compile a program, try it, and return a call without arguments that computes C.

    Parameters
    ----------
    program
        A name of the catalog, or loops of the reader's, which run in a process of their own first.
    matrices
        A, B and C of that size; default new ones.

    Raises
    ------
    CourseError
        When it does not compile, crashes, prints, or computes something else.
    """
    A, B, C = matrices or size.matrices()
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


def four_steps(sums: int) -> str:
    """Return the loops ijk with four steps of k written out, which are added to so many sums in turn.

    >>> print(four_steps(2).splitlines()[5].strip())
    s1 += A(i, k + 1) * B(k + 1, j);
    """
    names = [f"s{n}" for n in range(sums)]
    steps = [f"            {names[n % sums]} += A(i, k + {n}) * B(k + {n}, j);" for n in range(4)]
    return "\n".join(["for (int i = 0; i < M; ++i)", "    for (int j = 0; j < N; ++j) {",
                      f"        float {' = 0, '.join(names)} = 0;", "        for (int k = 0; k < K; k += 4) {", *steps, "        }",
                      f"        C(i, j) += {' + '.join(names)};", "    }", ""])
