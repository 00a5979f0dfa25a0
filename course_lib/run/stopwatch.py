"""Measure how long a call takes on this CPU."""

import math
import time

from course_lib.gpu import Timing

SAMPLE = 1e-3          # seconds that one sample should last; the clock and the call itself cost about a microsecond
FEWEST = 5             # samples


def time_call(call, before=None, *, repeats=25, warmup=2, budget_s=1.0, clock=time.perf_counter):
    """Measure a callable, after warming up: its data are then in the caches as far as they fit.

    Parameters
    ----------
    call : callable
    before : callable, optional
        Run before each sample and not measured: puts back what `call` changes.
    repeats : int
        Samples at most; 5 are taken, then more as long as `budget_s` seconds allow. A call that takes longer than
        `budget_s` by itself is measured 3 times, its warm-up among them.
    warmup : int
        Calls before the first sample, fewer when they alone take `budget_s` seconds.
    clock : callable
        Seconds.

    Returns
    -------
    Timing
        Per call.
    """
    def sample(launches):
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


def launches_for(call, clock=time.perf_counter):
    """Call twice, and return how many calls make a sample that lasts as long as the clock needs."""
    call()
    start = clock()
    call()
    return max(1, math.ceil(SAMPLE / max(clock() - start, 1e-9)))


def fastest(call, *, budget_s=0.1, launches=None, clock=time.perf_counter):
    """Return the seconds of a call's fastest sample: what the machine can do while nothing disturbs it.

    A bound needs this and no average: whatever else runs beside it makes a sample slower, never faster.

    Parameters
    ----------
    call : callable
    budget_s : float
        About how long to measure; one sample is always taken.
    launches : int, optional
        Calls of a sample; default what `launches_for` finds with two calls more.
    clock : callable
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
