"""Measure how long a call takes on this CPU."""

import math
import time
from collections.abc import Callable

from course_lib.gpu import Timing

SAMPLE = 1e-3          # seconds that one sample should last; the clock and the call itself cost about a microsecond
FEWEST = 5             # samples


def time_call(call: Callable[[], object], before: Callable[[], object] | None = None, *, repeats: int = 25, warmup: int = 2,
              budget_s: float = 1.0, clock: Callable[[], float] = time.perf_counter) -> Timing:
    """Measure a callable, after warming up: its data are then in the caches as far as they fit.

    Parameters
    ----------
    before
        Run before each sample and not measured: puts back what `call` changes.
    repeats
        Samples at most; 5 are taken, then more as long as `budget_s` seconds allow. A call that takes longer than
        `budget_s` by itself is measured 3 times, its warm-up among them.
    warmup
        Calls before the first sample, fewer when they alone take `budget_s` seconds.
    clock
        Seconds.

    Returns
    -------
    Timing
        Per call.
    """
    def sample(launches: int) -> float:
        if before:
            before()
        start = clock()
        for _ in range(launches):
            call()
        return max(clock() - start, 1e-9) / launches

    warm = [sample(1)]
    while len(warm) < max(1, warmup) and sum(warm) < budget_s:
        warm.append(sample(1))
    first = min(warm)
    if first >= budget_s:
        return Timing.of(warm + [sample(1) for _ in range(3 - len(warm))], warmup=0)
    launches = 1 if before else max(1, math.ceil(SAMPLE / first))
    count = min(max(1, repeats), max(FEWEST, int(budget_s / (first * launches))))
    return Timing.of([sample(launches) for _ in range(count)], warmup=len(warm), launches=launches)


def launches_for(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> int:
    """Call twice, and return how many calls make a sample that lasts as long as the clock needs."""
    call()
    start = clock()
    call()
    return max(1, math.ceil(SAMPLE / max(clock() - start, 1e-9)))


def fastest(call: Callable[[], object], *, budget_s: float = 0.1, launches: int | None = None,
            clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of a call's fastest sample: what the machine can do while nothing disturbs it.

    A bound needs this and no average: whatever else runs beside it makes a sample slower, never faster.

    Parameters
    ----------
    budget_s
        About how long to measure; one sample is always taken.
    launches
        Calls of a sample; default what `launches_for` finds with two calls more.
    clock
        Seconds.
    """
    launches = launches or launches_for(call, clock)
    best, end = math.inf, clock() + budget_s
    while True:
        start = clock()
        for _ in range(launches):
            call()
        now = clock()
        best = min(best, max(now - start, 1e-9) / launches)
        if now >= end:
            return best
