"""Arithmetic of speed-ups: Amdahl's law, iterations a second, what a part of the work costs."""

import math

from course_lib.model.inputs import InputError
from course_lib.model.latency import positive

ROUNDED = 1e-12     # by this share a quotient of quotients may be off


def amdahl(share: float, factor: float) -> float:
    """Return the speed-up of the whole when a `share` of its time becomes `factor` times faster.

    Parameters
    ----------
    share
        0 to 1, of the time before.
    factor
        Positive; infinity for a part that vanishes.

    Raises
    ------
    InputError, a ValueError

    Source: G. Amdahl, "Validity of the single processor approach", 1967.

    >>> amdahl(0.5, 2), amdahl(0.75, float("inf"))
    (1.3333333333333333, 4.0)
    """
    if not 0 <= share <= 1 or not factor > 0:
        raise InputError(f"a share of {share!r} made {factor!r} times faster: a share is 0 to 1, a factor positive")
    rest = 1 - share + share / factor
    return math.inf if rest == 0 else 1 / rest


def serial_share(speedup: float, workers: int) -> float:
    """Return the share of the time that would have to be sequential if Amdahl's law explained a speed-up all by itself.

    Measured with more and more workers, a share that stays is a sequential part; one that grows points to something else.

    Parameters
    ----------
    speedup
        Of `workers` over one.
    workers
        At least 2.

    Returns
    -------
    Negative when the speed-up is larger than the number of workers.

    Raises
    ------
    InputError, a ValueError

    Source: A. Karp and H. Flatt, "Measuring parallel processor performance", 1990.

    >>> round(serial_share(amdahl(0.9, 8), 8), 6), serial_share(4, 4)
    (0.1, 0.0)
    """
    positive(speedup=speedup)
    if not workers >= 2 or not math.isfinite(workers):
        raise InputError(f"workers is {workers!r}, but at least 2 share work", workers=workers)
    return (1 / speedup - 1 / workers) / (1 - 1 / workers)


def least_share(speedup: float, factor: float = math.inf) -> float:
    """Return the share of the time that a part must have had if removing time from it made the whole `speedup` times faster.

    Wong's training runs 15 iterations a second with his product and 45 with cuBLAS: his takes at least two thirds. That is when
    cuBLAS takes no time; when it is 8 times faster, the share is larger.

    Parameters
    ----------
    speedup
        Of the whole, at least 1.
    factor
        How much faster the part became, at least `speedup` (but for its last digits: 1 / (1 / 443) is a little more than 443).

    Raises
    ------
    InputError, a ValueError

    >>> round(least_share(45 / 15), 4), round(least_share(45 / 15, 8), 4)
    (0.6667, 0.7619)
    """
    positive(speedup=speedup)
    if speedup < 1:
        raise InputError(f"a speed-up of {speedup!r} is a slow-down; it is at least 1 here", speedup=speedup)
    if not factor >= speedup * (1 - ROUNDED):
        raise InputError(f"a part made {factor!r} times faster cannot make the whole {speedup!r} times faster", factor=factor)
    return min(1.0, (1 - 1 / speedup) / (1 - 1 / factor)) if factor > 1 else 0.0


def saved_ms(before_per_s: float, after_per_s: float) -> float:
    """Return the milliseconds that one iteration became shorter.

    >>> round(saved_ms(14.5, 15), 2), round(saved_ms(15, 45), 1)
    (2.3, 44.4)
    """
    positive(before_per_s=before_per_s, after_per_s=after_per_s)
    return 1e3 / before_per_s - 1e3 / after_per_s


def loads_per_element(tile: int) -> float:
    """Return loads of global memory per multiply-add operand with tiles of `tile` x `tile`, over those without tiles.

    Each element in shared memory is read `tile` times. Source: Wong, section D.

    >>> loads_per_element(16)
    0.0625
    """
    positive(tile=tile)
    return 1 / tile


def caffe_inv_rate(iteration: int, base: float = 0.01, gamma: float = 1e-4, power: float = 0.75) -> float:
    """Return Caffe's learning rate under the policy "inv": base (1 + gamma t)^-power.

    The defaults are those of Caffe's LeNet example, which yield the rate that Wong's log prints.

    >>> round(caffe_inv_rate(9900), 8)
    0.00596843
    """
    return base * (1 + gamma * iteration) ** -power
