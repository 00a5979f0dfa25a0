"""What the kernels of lesson 08 take: recorded times at N = 4096, and those of the model."""

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.explorables.warps import SIDES, START, tile_of
from course_lib.lessons.register_blocking.counts import N_TIMED, words_per_multiply_add
from course_lib.lessons.register_blocking.experiments import times_by_warps
from course_lib.model.rounds import SCHEDULERS, rounds
from course_lib.plots import Table

LONG = 5760                           # cycles of the model, in which no time depends on where they begin


def library() -> float:
    """Return the library's milliseconds at N = 4096."""
    return 1e3 * data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds


def modelled(TM: int, TN: int, warps_held: int) -> float:
    """Return the seconds at N = 4096 and the highest clock in the model of the schedulers, with so many warps per multiprocessor.

    >>> round(1e3 * modelled(8, 8, 16), 2)
    2.57
    """
    at = rounds(warps_held // SCHEDULERS, TM + TN, TM * TN, start=START, cycles=LONG)
    return N_TIMED**3 / WARP / (DEFAULT_DEVICE.sms * SCHEDULERS * at.multiply_adds / at.cycles) / (1e6 * DEFAULT_DEVICE.clock_mhz)


def rungs() -> dict[tuple[int, int], tuple[int, float]]:
    """Return the warps per multiprocessor and the recorded milliseconds of each kernel by TM and TN, with as many warps as fit.

    >>> [(outputs, warps) for outputs, (warps, _) in rungs().items()]
    [((1, 1), 64), ((2, 2), 48), ((4, 4), 32), ((8, 8), 16)]
    """
    return {(side, side): max(times_by_warps()[side**2].items()) for side in SIDES}


def scoreboard() -> Table:
    """Return what more outputs per thread bring: words, warps, and time with the speed in percent of the library's."""
    best, rows = library(), []
    for (TM, TN), (held, ms) in rungs().items():
        rows.append((f"{TM} × {TN}", f"{float(words_per_multiply_add(TM, TN)):.3f}",
                     f"{held} ({held / DEFAULT_DEVICE.limits.warps:.0%})", f"{ms:.1f} ({best / ms:.1%})"))
    rows.append(("cuBLAS", "", "", f"{best:.1f} (100.0%)"))
    header = ("outputs per thread", "words per multiply-add", "warps per multiprocessor (occupancy)", "ms (speed, % of cuBLAS)")
    recorded = f"BK = {tile_of(1)['BK']}, {data.readings('again').label}"
    return Table(header, rows, f"N = {N_TIMED}, {recorded}; cuBLAS on {data.load('ladder').date}")
