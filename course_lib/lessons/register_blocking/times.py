"""What the kernels of lesson 08 take: recorded times at N = 4096."""

import re
from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.explorables.warps import START
from course_lib.lessons.register_blocking.counts import KERNEL, N_TIMED, SQUARES, shared_busy, wavefronts, words_per_multiply_add
from course_lib.lessons.register_blocking.experiments import recorded, warps
from course_lib.model.rounds import SCHEDULERS, rounds
from course_lib.plots import Table
from course_lib.widgets.compute import evaluate

N_COUNTED, LONG = 256, 5760           # size; cycles of the model, in which no row of the table depends on where they begin
TILED: tuple[str, dict[str, int]] = ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16})
RUNGS: tuple[tuple[int, int, str, dict[str, Any]], ...] = (
    (1, 1, *TILED),
    (8, 1, "sgemm_1d_tile", {"BM": 64, "BN": 64, "BK": 8, "TM": 8}),
    *((side, side, KERNEL, SQUARES[side]) for side in (2, 4, 8)),
)


def recorded_rung(kernel: str, tile: dict[str, int]) -> dict[str, Any]:
    """Return the row with the recorded time at N = 4096."""
    return data.tiled() if (kernel, tile) == TILED else recorded(kernel, tile)


def library() -> float:
    """Return the library's seconds at N = 4096."""
    return data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds


def busy(kernel: str, tile: dict[str, int]) -> float:
    """Return the least seconds that shared memory needs at N = 4096."""
    return shared_busy(wavefronts(evaluate(kernel, N_COUNTED, tile, backend="sim")))


def modelled(TM: int, TN: int, warps_held: int) -> float:
    """Return the seconds at N = 4096 and the highest clock in the model of the schedulers, with so many warps per multiprocessor.

    >>> round(1e3 * modelled(8, 8, 16), 2)
    2.57
    """
    at = rounds(warps_held // SCHEDULERS, TM + TN, TM * TN, start=START, cycles=LONG)
    return N_TIMED**3 / WARP / (DEFAULT_DEVICE.sms * SCHEDULERS * at.multiply_adds / at.cycles) / (1e6 * DEFAULT_DEVICE.clock_mhz)


def names() -> tuple[str, ...]:
    """Return what the rungs are called in tables."""
    said = {(1, 1): "tiled, lesson 04", (8, 1): "sgemm_1d_tile: 8 × 1"}
    found = tuple(said.get((TM, TN), f"square: {TM} × {TN}") for TM, TN, *_ in RUNGS)
    return tuple(re.sub(r"(\d) × (\d)", "\\1\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}\\2", name) for name in found)


def scoreboard() -> Table:
    """Return the ladder so far: tile, words, warps, what shared memory needs, model, time, and speed in percent of the library's."""
    best, rows = library(), []
    for name, (TM, TN, kernel, tile) in zip(names(), RUNGS, strict=True):
        seconds, held = recorded_rung(kernel, tile)["median_s"], warps(recorded(kernel, tile))
        shape = "{BM} × {BN}, BK = {BK}".format(**tile).replace(" ", "\N{NO-BREAK SPACE}")
        rows.append((name, shape, f"{float(words_per_multiply_add(TM, TN)):.3f}", f"{held} ({held / DEFAULT_DEVICE.limits.warps:.0%})",
                     f"{1e3 * busy(kernel, tile):.1f}", f"{1e3 * modelled(TM, TN, held):.1f}", f"{1e3 * seconds:.1f}",
                     f"{best / seconds:.1%}"))
    rows.append(("NVIDIA's library, cuBLAS", "", "", "", "", "", f"{1e3 * best:.1f}", "100.0%"))
    header = ("kernel", "tile of C", "words per multiply-add", "warps per multiprocessor", "shared memory busy, at least, ms", "model, ms",
              "recorded, ms", "speed, % of cuBLAS")
    told = [recorded_rung(kernel, tile) for _, _, kernel, tile in RUNGS]
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, {data.readings('again').label}, {data.spread(told)}. "
                 f"cuBLAS was recorded on {data.load('ladder').date}. All times but the first, and the warps as the driver counted "
                 "them, are those of NVRTC 13.0's code. The wavefronts are those of the installed compiler's code, simulated at "
                 f"N = {N_COUNTED}; per multiply-add they are the same at {N_TIMED}. Busy and model hold for the highest clock.")
